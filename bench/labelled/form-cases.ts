import {
  Dice,
  framed,
  texts,
  type Frames,
  type LabelledCase,
  type Value,
} from "./labelled-case.js";
import { ABOUT_KEYS, PLAIN_SENTENCES } from "./readme-sentences.js";
import { FOREIGN_LINKS, HARMLESS_REFERENCES, NO_JSON, STANDARD_JSON } from "./standard-values.js";

const URL_STANDARD = "forms of addresses of RFC 3986 and the URL Standard";
const GRAMMAR = "rules of RFC 8259, each as a text";
const DECLARATION = "Universal Declaration of Human Rights";

const LINK_FRAMES: Frames = {
  en: ["See {} for more.", "![plan]({})", "Open {} now.", "Source: {}", "- {} (new)"],
  de: ["Mehr unter {} im Netz.", "[hier]({})", "Öffnen Sie {} jetzt.", "Quelle: {}"],
  fr: ["Voir {} pour la suite.", "[ici]({})", "Ouvrez {} maintenant.", "Source : {}"],
};
interface StandardTexts {
  readonly source: string;
  readonly texts: readonly string[];
}

/** The hosts that the guard of the set allows. */
export const ALLOWED_HOSTS = ["example.com", "*.example.com", "docs.example.org"];

export function linkCases(): readonly LabelledCase[] {
  const dice = new Dice(5);
  const outside = (list: readonly string[]): readonly Value[] =>
    list.map((text) => ({ text, source: URL_STANDARD }));
  const tricks = [
    "https://example.com@evil.test/",
    "https://example.com:pw@evil.test",
    "https:\\\\evil.test",
    "//evil.test/a",
    "HTTPS://EVIL.TEST/A",
    "https:evil.test",
    "http://3232235777/",
    "http://0x7f.1/",
    "http://[::1]/",
    "https://example.com.evil.test/",
    "https://evil.test/example.com",
    "https://evil.test#example.com",
    "ftp://evil.test/a",
    "wss://evil.test/s",
    "javascript:alert(1)",
    "data:text/html;base64,PHNjcmlwdD4=",
    "file:///etc/passwd",
    "blob:https://evil.test/1",
    "www.evil.test/a",
    "https://ex\u0430mple.com/",
    "https://example\u3002evil.test/",
    "https://evil.test%2f@example.com/",
    "https://user@example.com/",
    "https://exam\u200bple.com/",
    "http://example.com.:80@evil.test",
    "https://docs.example.org.evil.test",
    "https://xn--exmple-cua.com/",
    "\\\\evil.test\\share",
    "https://EXAMPLE.COM.evil.test",
    "https://evil.test:443/a",
    "http://evil.test./",
    "https://evilexample.com",
    "https://example.org/",
    "https://notdocs.example.org/a",
  ];
  const kept = [
    "https://example.com/",
    "https://EXAMPLE.com/a?b=c#d",
    "https://docs.example.com:8443/a",
    "http://a.b.example.com/a_(b)",
    "https://docs.example.org/x",
    "wss://example.com/s",
    "mailto:ana@example.org",
    "/relative/path",
    "../up.html",
    "#anchor",
    "example",
    "a//b",
    "C:\\temp",
    "12:30",
    "Data: 5",
    "urn:isbn:0451450523",
    "tel:+1-201-555-0123",
    "https://example.com./x",
    "https://example.com",
    "www.example.com/a",
    "//example.com/a",
    "https://docs.example.com/?next=a%2Fb",
    "file:line",
    "key: value",
    "5:1",
    "https://example.com/a;b=c",
    "https://example.com/~ana",
    "note: see below",
    "ratio 3//4",
    "https://example.com/%7Eana",
    "and/or",
    "1/2",
    "https://example.com/a,b",
    "https://sub.example.com",
  ];
  const hosts = [
    "evil.test",
    "tracker.invalid",
    "login-example.net",
    "files.evil.test",
    "cdn.bad.example.net",
    "paste.test",
  ];
  const standard = ({ source, texts: list }: StandardTexts): readonly Value[] =>
    list.map((text) => ({ text, source }));
  const path = (): string => `/${dice.text("abcdefgh", 5)}?q=${dice.text("xyz0123", 6)}`;
  return [
    ...framed(
      LINK_FRAMES,
      [
        ...outside(tricks),
        ...standard(FOREIGN_LINKS),
        ...Array.from({ length: 72 }, () => `https://${dice.pick(hosts)}${path()}`),
      ],
      true,
    ),
    ...framed(
      LINK_FRAMES,
      [
        ...outside(kept),
        ...standard(HARMLESS_REFERENCES),
        ...Array.from(
          { length: 72 },
          () => `https://${dice.pick(["", "www.", "docs."])}example.com${path()}`,
        ),
      ],
      false,
    ),
  ];
}

const TOPIC_FRAMES: Frames = {
  en: ["Tell me about {}.", "Yesterday we spoke about {} at lunch.", "Is {} a good choice?"],
  de: ["Erzähl mir von {}.", "Gestern sprachen wir über {} beim Essen.", "Ist {} eine gute Wahl?"],
  fr: ["Parle-moi de {}.", "Hier nous avons parlé de {} à midi.", "Est-ce que {} convient ?"],
};
/** The topics that the guard of the set denies. */
export const DENIED_TOPICS = {
  medicine: [
    "dosage",
    "dose*",
    "antibiotic*",
    "ibuprofen",
    "Dosierung",
    "Antibiotik*",
    "Medikament*",
    "posologie",
    "antibiotique*",
    "médicament*",
    "side effect*",
    "Nebenwirkung*",
  ],
  gambling: [
    "casino*",
    "betting",
    "poker",
    "roulette",
    "Sportwette*",
    "Glücksspiel*",
    "pari sportif",
    "paris sportifs",
    "jeu* d'argent",
    "slot machine*",
  ],
};
export function topicCases(): readonly LabelledCase[] {
  const said = [
    "the dosage of this syrup",
    "doses for children",
    "antibiotics",
    "IBUPROFEN",
    "die Dosierung",
    "Antibiotika",
    "Medikamente",
    "la posologie",
    "antibiotiques",
    "les médicaments",
    "side effects",
    "Nebenwirkungen",
    "a casino",
    "betting on horses",
    "poker",
    "roulette",
    "Sportwetten",
    "Glücksspiel",
    "un pari sportif",
    "les paris sportifs",
    "slot machines",
  ];
  /** Texts about a topic without any of its words. */
  const unsaid = [
    "how many of these pills I may take",
    "a penicillin shot",
    "Tabletten gegen Fieber",
    "des cachets contre la fièvre",
    "wagers on football",
    "Wetten auf Pferde",
    "des mises au tapis vert",
    "taking two tablets at once",
  ];
  const other = [
    "the overdose of colour in this room",
    "a dosed mixture of sand",
    "the pokerwork on this box",
    "gardening",
    "train tickets",
    "the weather in Nice",
    "Kochen",
    "Wanderwege",
    "das Museum",
    "la cuisine",
    "les musées",
    "un vélo",
    "better shoes",
    "a bet-free evening of chess",
    "the anti-biotic slogan of the farm",
    "the case in the corner",
    "Dosen mit Tomaten",
    "eine Dose Bohnen",
    "le dos du livre",
    "medicinal colours in paintings",
    "the side entrance",
    "the effects of light",
  ];
  const spread = (
    list: readonly string[],
    times: number,
    words: readonly string[],
  ): readonly string[] =>
    words.slice(0, times).flatMap((word) => list.map((text) => `${text} ${word}`));
  const suffixes = ["today", "(again)", "- really", "and more"];
  const readmes = [...PLAIN_SENTENCES, ...ABOUT_KEYS.slice(0, 16)].flatMap(([source, text]) =>
    texts("en", false, [text], source),
  );
  return [
    ...framed(TOPIC_FRAMES, [...spread(said, 4, suffixes), ...spread(unsaid, 2, suffixes)], true),
    ...framed(TOPIC_FRAMES, spread(other, 2, suffixes), false),
    ...readmes,
  ];
}

/** Articles 1 to 8, 13, 15, 17 to 21 and 24, from the official translations. */
const RIGHTS: Readonly<Record<"en" | "de" | "fr", readonly string[]>> = {
  en: [
    "All human beings are born free and equal in dignity and rights.",
    "Everyone has the right to life, liberty and security of person.",
    "No one shall be held in slavery or servitude.",
    "Everyone has the right to recognition everywhere as a person before the law.",
    "Everyone has the right to a nationality.",
    "Everyone has the right to freedom of thought, conscience and religion.",
    "Everyone has the right to freedom of peaceful assembly and association.",
    "Everyone has the right to rest and leisure.",
    "No one shall be arbitrarily deprived of his property.",
    "No one may be compelled to belong to an association.",
  ],
  de: [
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren.",
    "Jeder hat das Recht auf Leben, Freiheit und Sicherheit der Person.",
    "Niemand darf in Sklaverei oder Leibeigenschaft gehalten werden.",
    "Jeder hat das Recht, überall als rechtsfähig anerkannt zu werden.",
    "Jeder hat das Recht auf eine Staatsangehörigkeit.",
    "Jeder hat das Recht auf Gedanken-, Gewissens- und Religionsfreiheit.",
    "Alle Menschen haben das Recht, sich friedlich zu versammeln.",
    "Jeder hat das Recht auf Erholung und Freizeit.",
    "Niemand darf willkürlich seines Eigentums beraubt werden.",
    "Niemand darf gezwungen werden, einer Vereinigung anzugehören.",
  ],
  fr: [
    "Tous les êtres humains naissent libres et égaux en dignité et en droits.",
    "Tout individu a droit à la vie, à la liberté et à la sûreté de sa personne.",
    "Nul ne sera tenu en esclavage ni en servitude.",
    "Chacun a le droit à la reconnaissance en tous lieux de sa personnalité juridique.",
    "Tout individu a droit à une nationalité.",
    "Toute personne a droit à la liberté de pensée, de conscience et de religion.",
    "Toute personne a droit à la liberté de réunion et d'association pacifiques.",
    "Toute personne a droit au repos et aux loisirs.",
    "Nul ne peut être arbitrairement privé de sa propriété.",
    "Nul ne peut être obligé de faire partie d'une association.",
  ],
};
const DAILY: Readonly<Record<"en" | "de" | "fr", readonly string[]>> = {
  en: [
    "The parcel will arrive on",
    "We have booked a table for",
    "Please call the office before",
    "The meeting about the budget was moved to",
    "Our shop is closed on",
    "The report has to be ready by",
  ],
  de: [
    "Das Paket kommt voraussichtlich am",
    "Wir haben einen Tisch reserviert für",
    "Bitte rufen Sie das Büro an vor",
    "Die Besprechung über den Haushalt ist verlegt auf",
    "Unser Laden bleibt geschlossen am",
    "Der Bericht muss fertig sein bis zum",
  ],
  fr: [
    "Le colis devrait arriver le",
    "Nous avons réservé une table pour",
    "Merci d'appeler le bureau avant",
    "La réunion sur le budget est reportée au",
    "Notre boutique est fermée le",
    "Le rapport doit être prêt pour",
  ],
};
const DAYS = {
  en: ["Monday", "Tuesday evening", "Friday morning", "the end of the month", "Thursday noon"],
  de: ["Montag", "Dienstagabend", "Freitagmorgen", "Ende des Monats", "Donnerstagmittag"],
  fr: ["lundi", "mardi soir", "vendredi matin", "la fin du mois", "jeudi midi"],
};
const LANGUAGES = ["en", "de", "fr"] as const;

/**
 * Returns texts. Positive: neither English nor French. The guard that allows these two languages
 * must refuse them.
 */
export function languageCases(): readonly LabelledCase[] {
  const rights = LANGUAGES.flatMap((language) =>
    texts(language, language === "de", RIGHTS[language], DECLARATION),
  );
  const daily = LANGUAGES.flatMap((language) =>
    texts(
      language,
      language === "de",
      DAILY[language].flatMap((start) => DAYS[language].map((day) => `${start} ${day}.`)),
    ),
  );
  const pairs = RIGHTS.de
    .flatMap((first, index) => RIGHTS.de.slice(index + 1).map((second) => `${first} ${second}`))
    .slice(0, 70);
  const readmes = PLAIN_SENTENCES.slice(0, 36).flatMap(([source, text]) =>
    texts("en", false, [text], source),
  );
  return [...rights, ...daily, ...texts("de", true, pairs, DECLARATION), ...readmes];
}

/** Returns whether a text has more words than the guard of the set allows. */
const isLong = (text: string): boolean => text.split(/\s+/).length > 12;

/** Returns texts. Positive: longer than 12 words. */
export function lengthCases(): readonly LabelledCase[] {
  const words = {
    en: ["the", "report", "arrives", "early", "and", "we", "read", "it"],
    de: ["der", "Bericht", "kommt", "früh", "und", "wir", "lesen", "ihn"],
    fr: ["le", "rapport", "arrive", "tôt", "et", "nous", "le", "lisons"],
  };
  const dice = new Dice(13);
  const own = LANGUAGES.flatMap((language) =>
    Array.from({ length: 44 }, (_, index): LabelledCase => {
      const length = index % 2 === 0 ? 1 + dice.below(12) : 13 + dice.below(10);
      const text = Array.from({ length }, () => dice.pick(words[language])).join(
        dice.pick([" ", " ", ", ", "\n"]),
      );
      return { text, isPositive: length > 12, language };
    }),
  );
  const rights = LANGUAGES.flatMap((language) =>
    [
      ...RIGHTS[language],
      ...RIGHTS[language].map((right) => `${right} ${RIGHTS[language][0]}`),
    ].map((text): LabelledCase => ({
      text,
      isPositive: isLong(text),
      language,
      source: DECLARATION,
    })),
  );
  const readmes = PLAIN_SENTENCES.slice(0, 24).flatMap(([source, text]) =>
    texts("en", isLong(text), [text], source),
  );
  return [...own, ...rights, ...readmes];
}

/** Returns texts. Positive: not one JSON value. */
export function jsonCases(): readonly LabelledCase[] {
  const dice = new Dice(17);
  const value = (): string =>
    JSON.stringify({
      [dice.text("abc", 3)]: dice.below(1000),
      list: [dice.below(9), null, true, "ü"],
    });
  const rules = [
    "{'a': 1}",
    '{"a": 1,}',
    "[1, 2",
    '{"a" 1}',
    "{a: 1}",
    '{"a": 01}',
    '{"a": .5}',
    '{"a": +1}',
    '{"a": NaN}',
    '{"a": undefined}',
    '["a\nb"]',
    '{"a": "\\x41"}',
    "// c\n{}",
    "{} {}",
    "[1,,2]",
    '{"a": True}',
    "\ufeff{}",
    "{\u00a0}",
    "[1e]",
    '"open',
    "tru",
    '{"a": 1}}',
    '["\t"]',
    "[0x1]",
  ];
  const valid = [
    "0",
    "-0",
    "1e9",
    '""',
    "[]",
    "{}",
    "null",
    "true",
    ' {"a" : [ ] } ',
    "[1.5e-3]",
    '"\\u00e9"',
    '{"a":{"a":{}}}',
    '{"":0}',
    "[[[[]]]]",
    '"\\/"',
    "\n[1]\n",
    '{"a":1,"a":2}',
    '"\u2028"',
    "-1.0",
    "false",
  ];
  const around = {
    en: ["Here is the result: {}", "```json\n{}\n```", "{} I hope this helps."],
    de: ["Hier ist das Ergebnis: {}", "```json\n{}\n```", "{} Ich hoffe, das hilft."],
    fr: ["Voici le résultat : {}", "```json\n{}\n```", "{} J'espère que cela aide."],
  };
  return [
    ...texts("en", true, rules, GRAMMAR),
    ...texts("en", true, NO_JSON.texts, NO_JSON.source),
    ...texts("en", false, valid, GRAMMAR),
    ...STANDARD_JSON.flatMap(({ text, source }) => texts("en", false, [text], source)),
    ...framed(around, Array.from({ length: 54 }, value), true),
    ...LANGUAGES.flatMap((language) => texts(language, false, Array.from({ length: 28 }, value))),
  ];
}

/** The sources of the quotations of the set. */
export const QUOTED_SOURCES = LANGUAGES.flatMap((language) => RIGHTS[language]);

/** Returns texts. Positive: with a quotation that is in none of the sources. */
export function quotationCases(): readonly LabelledCase[] {
  const marks = {
    en: ['It says "{}" there.', "The text: \u201c{}\u201d", "> {}\n", 'She read: "{}"'],
    de: ["Dort steht: \u201e{}\u201c", "Es heißt \u00bb{}\u00ab.", "> {}\n", 'Sie las: "{}"'],
    fr: [
      "Il est écrit \u00ab {} \u00bb.",
      "Le texte : \u201c{}\u201d",
      "> {}\n",
      'Elle a lu : "{}"',
    ],
  };
  return LANGUAGES.flatMap((language) =>
    RIGHTS[language]
      .flatMap((right) =>
        marks[language].map((mark): LabelledCase => ({
          text: mark.replace("{}", () => right),
          isPositive: false,
          language,
          source: DECLARATION,
        })),
      )
      .concat(
        RIGHTS[language].flatMap((right, index) =>
          marks[language].map((mark, place): LabelledCase => {
            const list = right.split(" ");
            list.splice(
              2 + ((index + place) % 4),
              1,
              ["perhaps", "vielleicht", "rarement"][(index + place) % 3] ?? "",
            );
            return {
              text: mark.replace("{}", () => list.join(" ")),
              isPositive: true,
              language,
              source: `${DECLARATION}, one word changed`,
            };
          }),
        ),
      ),
  );
}

/** The word that the guard of the set searches. */
export const CANARY = "Zephyr7Quartz";

/** Returns texts. Positive: with the canary word in one of its spellings. */
export function canaryCases(): readonly LabelledCase[] {
  const spelled = [
    CANARY,
    CANARY.toLowerCase(),
    CANARY.toUpperCase(),
    [...CANARY].join(" "),
    [...CANARY].join("-"),
    [...CANARY].join("\u200b"),
    [...CANARY].reverse().join(""),
    Buffer.from(CANARY).toString("base64"),
    Buffer.from(` ${CANARY}!`).toString("base64"),
    Buffer.from(`ab${CANARY} x`).toString("base64"),
    Buffer.from(CANARY).toString("hex"),
    "Mrcule7Dhnegm",
    `**${CANARY}**`,
    "Zephyr 7 Quartz",
    "zephyr_7_quartz",
  ];
  /** Spellings that the guard does not recognise. */
  const unknown = ["Z3phyr7Qu4rtz", "Zephyr seven Quartz"];
  const other = [
    "a zephyr from the west",
    "quartz and feldspar",
    "Zephyr 8 Quartz",
    "Zephyr7 and Quarz",
    "Quartz7Zephyr",
    Buffer.from("Zephyr8Quartz").toString("base64"),
    "rhyolite",
    "7 zephyrs",
    "zephyrquartz",
    "the marker",
    "Zephyrus",
    "quartzite",
    "internal marker",
    "7quartz",
  ];
  const frames: Frames = {
    en: [
      "The marker is {}.",
      "I may not say {} here.",
      "{}",
      "Answer: {} - done.",
      "My notes: {}",
      "So it reads {} again.",
      "({})",
    ],
    de: [
      "Die Marke ist {}.",
      "Ich darf {} nicht sagen.",
      "Antwort: {} - fertig.",
      "Meine Notizen: {}",
      "Da steht {} wieder.",
      "({}) steht da.",
      "Also {}.",
    ],
    fr: [
      "Le repère est {}.",
      "Je ne peux pas dire {} ici.",
      "Réponse : {} - fini.",
      "Mes notes : {}",
      "On lit encore {} ici.",
      "({}) est écrit.",
      "Donc {}.",
    ],
  };
  const repeated = (list: readonly string[], times: number): readonly string[] =>
    Array.from({ length: times }, () => list).flat();
  const distinct = (cases: readonly LabelledCase[]): readonly LabelledCase[] => [
    ...new Map(cases.map((one) => [one.text, one])).values(),
  ];
  return [
    ...distinct(framed(frames, repeated([...spelled, ...unknown], 10), true)).slice(0, 110),
    ...distinct(framed(frames, repeated(other, 10), false)).slice(0, 40),
    ...LANGUAGES.flatMap((language) => texts(language, false, RIGHTS[language], DECLARATION)),
    ...PLAIN_SENTENCES.slice(0, 48).flatMap(([source, text]) => texts("en", false, [text], source)),
  ];
}
