import { Dice, framed, type Frames, type LabelledCase, type Value } from "./labelled-case.js";

const PHONES = "example numbers of Google's libphonenumber (Apache-2.0)";
const RFC = "addresses of RFC 5322 and RFC 6530";

const FRAMES: Frames = {
  en: [
    "You can reach her at {} from Monday on.",
    "Contact: {}",
    "He wrote {} on the form.",
    "Please send it to {}, thank you.",
    "New entry ({}) saved.",
  ],
  de: [
    "Sie ist ab Montag unter {} erreichbar.",
    "Kontakt: {}",
    "Im Formular steht {}.",
    "Bitte an {} senden, danke.",
    "Neuer Eintrag ({}) gespeichert.",
  ],
  fr: [
    "Vous pouvez la joindre au {} dès lundi.",
    "Contact : {}",
    "Il a noté {} sur le formulaire.",
    "Merci de l'envoyer à {}.",
    "Nouvelle entrée ({}) enregistrée.",
  ],
};
const EXAMPLES: readonly string[] = [
  "+1 201 555 0123",
  "+44 7400 123456",
  "+49 1512 3456789",
  "+33 6 12 34 56 78",
  "+41 78 123 45 67",
  "+43 664 123456",
  "+34 612 34 56 78",
  "+39 312 345 6789",
  "+31 6 12345678",
  "+32 450 00 12 34",
  "+48 512 345 678",
  "+46 70 123 45 67",
  "+47 40 61 23 45",
  "+45 34 41 23 45",
  "+358 41 2345678",
  "+351 912 345 678",
  "+55 11 96123 4567",
  "+52 222 123 4567",
  "+91 81234 56789",
  "+86 131 2345 6789",
  "+81 90 1234 5678",
  "+82 10 2000 0000",
  "+61 412 345 678",
  "+27 71 123 4567",
  "+353 85 012 3456",
  "+30 691 234 5678",
  "+420 601 123 456",
  "+90 501 234 56 78",
  "+1 506 234 5678",
  "+54 9 11 2345 6789",
];
const MAILS = [
  "jdoe@one.test",
  "mary@example.net",
  "pete@silly.example",
  "sysservices@example.net",
  "one@y.test",
  "boss@nil.test",
  "john.q.public@example.com",
  "simple@example.com",
  "very.common@example.com",
  "x@example.com",
  "long.email-address-with-hyphens@and.subdomains.example.com",
  "user.name+tag+sorting@example.com",
  "name/surname@example.com",
  "admin@example.org",
  "user%example.com@example.org",
  "user-@example.org",
];
const NATIONAL: readonly string[] = [
  "(415) 555-2671",
  "415-555-0132",
  "(212) 664-7665",
  "650-253-0000",
  "030 901820",
  "089 233-00",
  "0151 23456789",
  "0221/221-0",
  "040 42828-0",
  "0176 12345678",
  "01 42 76 40 40",
  "06 12 34 56 78",
  "04.91.55.11.11",
  "01 40 20 50 50",
  "07 81 23 45 67",
  "03 20 49 50 00",
];
const PEOPLE = [
  "anna.schmidt",
  "j.dupont",
  "marie-claire.petit",
  "bob",
  "o.neill",
  "müller",
  "k.nowak",
  "sara_lee",
  "t.o",
  "info",
];
const DOMAINS = [
  "example.com",
  "mail.example.org",
  "firma.example",
  "exemple.fr",
  "büro.example.de",
];
const NOTHING = [
  "@ana",
  "@types/node@20.1.0",
  "user@",
  "@example",
  "ana at example dot com",
  "a@b",
  "git@",
  "50 @ 3.20",
  "https://example.com/@ana/posts",
  "npm i react@18.2.0",
  "2026-01-15",
  "15.01.2026 10:30",
  "3.14159265",
  "1,234,567",
  "1 234 567",
  "room 0815",
  "page 123-130",
  "chapter 12.3.4",
  "2,5 %",
  "12/26",
  "part 4711-0815",
  "HTTP 404",
  "RFC 2606",
  "port 5432",
  "10.0.0.1",
  "192.168.178.22",
  "192.0.2.1:8080",
  "52.5200, 13.4050",
  "ISBN 3-16-148410-0",
  "0x1F4A9",
  "A4 210 x 297",
  "24/7",
  "1990-2020",
  "4:3",
  "07/2025",
  "Q3 2024",
  "IPv6 2001:db8::1",
  "1e10",
  "100,000 EUR",
  "CHF 1'200'000",
  "08:15-16:30",
];

/** Returns mail addresses and phone numbers. */
export function personalCases(): readonly LabelledCase[] {
  const dice = new Dice(11);
  const outside: readonly Value[] = [
    ...EXAMPLES.map((text) => ({ text, source: PHONES })),
    ...MAILS.map((text) => ({ text, source: RFC })),
  ];
  const own = [
    ...PEOPLE.flatMap((name) => DOMAINS.map((domain) => `${name}@${domain}`)),
    ...NATIONAL,
  ];
  const wrong: readonly Value[] = EXAMPLES.map((text) => ({
    text: text.slice(0, -6),
    source: `${PHONES}, cut`,
  }));
  const many = Array.from(
    { length: 40 },
    (_, index) => `ticket ${index}${dice.text("0123456789", 4)}`,
  );
  return [
    ...framed(FRAMES, [...outside, ...own], true),
    ...framed(FRAMES, [...wrong, ...NOTHING, ...many], false),
  ];
}
