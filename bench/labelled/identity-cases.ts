import { Dice, framed, type Frames, type LabelledCase, type Value } from "./labelled-case.js";

const STDNUM = "tests of stdnum 1.12 (MIT)";
const REGISTRY = "IBAN registry of SWIFT, example numbers";
const VENDORS = "test cards documented by Stripe, PayPal and Adyen";

/** Label and number, from the tests of stdnum. */
const NUMBERS: readonly (readonly [string, string])[] = [
  ["SSN", "536-90-4399"],
  ["NINO", "HH012345D"],
  ["NINO", "TJ012345D"],
  ["DNI", "54362315-K"],
  ["NIE", "X-2482300W"],
  ["NIR", "2 95 10 99 126 111 93"],
  ["NIR", "295109912611193"],
  ["Steuer-ID", "36 574 261 809"],
  ["Steuer-ID", "36574261809"],
  ["SVNR", "15 070649 C 103"],
  ["SVNR", "15070649C103"],
  ["SIN", "123-456-782"],
  ["AHV", "756.9217.0769.85"],
  ["AHV", "7569217076985"],
  ["SV-Nummer", "1237 010180"],
  ["BSN", "1112.22.333"],
  ["BSN", "123456782"],
  ["PESEL", "44051401359"],
  ["personnummer", "880320-0016"],
  ["HETU", "131052-308T"],
  ["fødselsnummer", "151086 95088"],
  ["CPF", "390.533.447-05"],
  ["CPF", "39053344705"],
  ["CPF", "231.002.999-00"],
  ["RUT", "76086428-5"],
  ["RUT", "12531909-2"],
  ["Aadhaar", "234123412346"],
  ["Aadhaar", "2341 2341 2346"],
  ["PAN", "ACUPA7085R"],
  ["ID", "360426199101010071"],
  ["codice fiscale", "RCCMNL83S18D969H"],
  ["TFN", "123 456 782"],
  ["ID number", "7503305044089"],
];
/** Numbers with a wrong check digit, from the tests of stdnum. */
const WRONG: readonly (readonly [string, string])[] = [
  ["SSN", "000-90-4399"],
  ["SSN", "666-12-3456"],
  ["NINO", "XO012345D"],
  ["DNI", "54362315-Z"],
  ["NIE", "X-2482300A"],
  ["NIR", "295109912611199"],
  ["Steuer-ID", "36574261808"],
  ["SVNR", "15070649C102"],
  ["SIN", "999-999-999"],
  ["AHV", "756.9217.0769.84"],
  ["SV-Nummer", "2237 010180"],
  ["BSN", "1112.52.333"],
  ["PESEL", "44051401358"],
  ["personnummer", "880320-0018"],
  ["personnummer", "701063-2391"],
  ["HETU", "131052-308U"],
  ["fødselsnummer", "15108695077"],
  ["CPF", "231.002.999-01"],
  ["RUT", "12531909-3"],
  ["Aadhaar", "234123412347"],
  ["Aadhaar", "222222222222"],
  ["PAN", "ABMPA32111"],
  ["ID", "360426199101010072"],
  ["codice fiscale", "RCCMNL83S18D967H"],
  ["TFN", "999 999 999"],
  ["ID number", "8503305044089"],
  ["NINO", "HH012345E"],
  ["SVNR", "15071349C103"],
];
const IBANS = [
  "GB29NWBK60161331926819",
  "DE89370400440532013000",
  "FR1420041010050500013M02606",
  "ES9121000418450200051332",
  "IT60X0542811101000000123456",
  "NL91ABNA0417164300",
  "BE68539007547034",
  "AT611904300234573201",
  "CH9300762011623852957",
  "PT50000201231234567890154",
  "SE4550000000058398257466",
  "NO9386011117947",
  "DK5000400440116243",
  "FI2112345600000785",
  "IE29AIBK93115212345678",
  "LU280019400644750000",
  "PL61109010140000071219812874",
  "CZ6508000000192000145399",
  "HU42117730161111101800000000",
  "GR1601101250000000012300695",
];
const CARDS = [
  "4242424242424242",
  "4000056655665556",
  "5555555555554444",
  "2223003122003222",
  "5200828282828210",
  "378282246310005",
  "371449635398431",
  "6011111111111117",
  "6011000990139424",
  "3056930009020004",
  "36227206271667",
  "3566002020360505",
  "6200000000000005",
  "4012888888881881",
  "4222222222222",
  "5105105105105100",
  "4111111111111111",
  "30569309025904",
  "38520000023237",
  "3530111333300000",
];

const FRAMES: Frames = {
  en: [
    "Her record shows {} since last year.",
    "Please check {} before you answer.",
    "The customer gave us {} on the phone.",
    "({}) was entered twice.",
    "Reference for the payment: {}",
  ],
  de: [
    "In der Akte steht {} seit dem letzten Jahr.",
    "Bitte prüfen Sie {} vor der Antwort.",
    "Der Kunde nannte am Telefon {}.",
    "({}) wurde zweimal erfasst.",
    "Angabe zur Zahlung: {}",
  ],
  fr: [
    "Le dossier indique {} depuis l'an dernier.",
    "Merci de vérifier {} avant de répondre.",
    "Le client a donné {} par courriel.",
    "({}) a été saisi deux fois.",
    "Référence du paiement : {}",
  ],
};

/** Returns the digits in groups of four. */
const grouped = (text: string): string => text.replace(/(.{4})(?=.)/g, "$1 ");
/** Returns the number with another last digit. The check digit is then wrong. */
const spoilt = (text: string): string =>
  text.replace(/\d(?=\D*$)/, (digit) => String((Number(digit) + 3) % 10));
const from = (source: string, list: readonly string[]): readonly Value[] =>
  list.map((text) => ({ text, source }));
const labelled = (list: readonly (readonly [string, string])[]): readonly Value[] =>
  list.map(([label, number]) => ({ text: `${label} ${number}`, source: STDNUM }));

/** Returns a card number with these first digits and its check digit. */
function card(dice: Dice, prefix: string, length: number): string {
  const body = prefix + dice.text("0123456789", length - prefix.length - 1);
  let sum = 0;
  [...body].reverse().forEach((digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  });
  return body + String((10 - (sum % 10)) % 10);
}

/** Returns a German IBAN with its check digits. */
function germanIban(dice: Dice): string {
  const account = dice.text("0123456789", 18);
  const rest = Number(BigInt(`${account}131400`) % 97n);
  return `DE${String(98 - rest).padStart(2, "0")}${account}`;
}

/** Returns other numbers of similar form. */
function lookalikes(dice: Dice): readonly string[] {
  const digits = (length: number): string => dice.text("0123456789", length);
  return Array.from({ length: 6 }, () => [
    `order 20${digits(2)}-${digits(6)}`,
    `invoice ${digits(10)}`,
    `2026-0${1 + dice.below(9)}-1${digits(1)} 12:${digits(1)}0:00`,
    `version 1${digits(1)}.${digits(1)}.${digits(2)}`,
    `EUR ${digits(1)}.${digits(3)}.${digits(3)},00`,
    `ISBN 978-3-16-${digits(6)}-0`,
    `commit ${dice.text("0123456789abcdef", 40)}`,
    `10.${digits(2)}.${digits(1)}.1${digits(1)}`,
    `timestamp 17${digits(11)}`,
    `GTIN 40${digits(11)}`,
  ]).flat();
}

/** Returns cards, IBANs and identity numbers, half of them with valid check digits. */
export function identityCases(): readonly LabelledCase[] {
  const dice = new Dice(7);
  const own = [
    ...Array.from({ length: 12 }, () => card(dice, "4", 16)),
    ...Array.from({ length: 8 }, () => grouped(card(dice, "53", 16))),
    ...Array.from({ length: 6 }, () => card(dice, "37", 15)),
    ...Array.from({ length: 12 }, () => germanIban(dice)),
    ...Array.from({ length: 10 }, () => grouped(germanIban(dice))),
  ];
  const positives = [
    ...labelled(NUMBERS),
    ...from(REGISTRY, IBANS),
    ...from(VENDORS, CARDS),
    ...own,
  ];
  const negatives = [
    ...labelled(WRONG),
    ...from(`${REGISTRY}, one digit changed`, IBANS.map(spoilt)),
    ...own.map(spoilt).slice(0, 14),
    ...lookalikes(dice),
  ];
  return [...framed(FRAMES, positives, true), ...framed(FRAMES, negatives, false)];
}
