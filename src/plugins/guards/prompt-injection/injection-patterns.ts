import { decodedJson } from "../shared/escapes.js";

/**
 * A sign of instructions in external text. Signs with a total weight of at least 1 are a finding.
 */
interface Sign {
  readonly kind: string;
  readonly weight: number;
  /** Matches the text in lower case, without accents and invisible characters. */
  readonly pattern: RegExp;
}

const INSTRUCTIONS =
  "(?:instruction|prompt|directive|direction|guideline|rule|command|order|constraint|restriction|polic(?:y|ies)|programming|training|context|message|task|anweisung|instruktion|vorgabe|regel|befehl|richtlinie|aufforderung|auftrag|aufgabe|consigne|regle|directive|ordre|instruccion|indicacion|regla|orden|directriz|istruzion|regol)";
const EARLIER =
  "(?:previous|prior|above|preceding|earlier|former|initial|original|existing|current|system|all|any|your|the|these|those|everything|bisherig|vorherig|obig|vorig|frueher|fruher|alle|deine|ihre|saemtlich|samtlich|urspruenglich|ursprunglich|precedent|anterieur|toutes|tous|tes|vos|initiales|anterior|previa|todas|tus|sus|precedenti|tutte)";

const SIGNS: readonly Sign[] = [
  {
    kind: "overrides instructions",
    weight: 1,
    pattern: new RegExp(
      `\\b(?:ignor|disregard|forget|overrid|bypass|discard|neglect|do not follow|don't follow|stop following|pay no attention to|cancel|missacht|vergiss|vergessen sie|uebergeh|ubergeh|verwirf|setz|befolge nicht|oubli|neglig|ne tenez pas compte|ne tiens pas compte|fais abstraction|faites abstraction|olvid|omite|haz caso omiso|descart|dimentic)[\\p{L}]{0,8}\\b[^.\\n]{0,50}\\b${EARLIER}\\p{L}{0,4}\\b[^.\\n]{0,40}\\b${INSTRUCTIONS}`,
      "u",
    ),
  },
  {
    kind: "overrides instructions",
    weight: 1,
    pattern:
      /\b(?:ignor|disregard|forget|vergiss|ignorier|oubli|olvid)\p{L}{0,6} (?:about )?(?:everything|all|alles|tout|todo)\b[^.\n]{0,40}\b(?:above|before|previous|said|told|so far|oben|bisher|zuvor|vorher|gesagt|precede|avant|dit|anterior|antes|dicho|until now)/u,
  },
  {
    kind: "overrides instructions",
    weight: 1,
    pattern: new RegExp(
      `\\b(?:ignor|disregard|forget|oubli|neglig|olvid|omit|dimentic)\\p{L}{0,6}\\b[^.\\n]{0,30}\\b${INSTRUCTIONS}\\p{L}{0,4}\\b[^.\\n]{0,20}\\b${EARLIER}`,
      "u",
    ),
  },
  {
    kind: "announces new instructions",
    weight: 1,
    pattern:
      /\b(?:new|updated|revised|real|actual|true|neue|aktualisierte|eigentliche|nouvelles?|nuevas?|vraies?) (?:system )?(?:instructions?|prompt|task|directives?|orders?|objective|goal|anweisung(?:en)?|instruktionen|aufgabe|consignes?|instrucciones|tarea|tache|objectif)\b\s*(?::|lautet)/u,
  },
  {
    kind: "addresses the model",
    weight: 0.5,
    pattern:
      /\b(?:important|urgent|critical|special|wichtig\p{L}*|dringend\p{L}*|importante?|urgent[es]*)\b[^.\n]{0,30}\b(?:message|note|instructions?|information|notice|hinweis|nachricht|anweisung(?:en)?|consignes?|mensaje|instrucciones)\b[^.\n]{0,30}\b(?:for|to|from|fuer|fur|an|pour|a|para|von|de)\b[^.\n]{0,25}\b(?:you|ai|assistant|llm|model|agent|bot|ki|assistenten?|modell|ia|agente|asistente|chatbot|user|system|crawler)/u,
  },
  {
    kind: "addresses the model",
    weight: 0.6,
    pattern:
      /(?:\b(?:if|when|wenn|falls|si|cuando) (?:you are|you're|du|sie|vous etes|tu es|eres|usted es)[^.\n]{0,20}\b(?:an? )?(?:ai|llm|language model|assistant|agent|chatbot|bot|sprachmodell|ki|ia|assistent|modele|agente|asistente)|\b(?:attention|hey|dear|note to|notice to|to|message to|achtung|hinweis an|an|attention aux|note aux?|atencion|nota para|to all|an alle|a toute?s? les?|alle) ?(?:all |any |the |die |les |los |jede )?(?:ai|llms?|language models?|ai assistants?|ai agents?|assistants?|chatbots?|(?:ki|ai)-?(?:assistent|system|modell|agent)\p{L}*|sprachmodelle?n?|ia|assistants? ia|agents? ia|modeles? de langage|asistentes? de ia|modelos? de lenguaje|agentes? de ia)\b)/u,
  },
  {
    kind: "changes the role",
    weight: 1,
    pattern:
      /\b(?:you are now|from now on you(?:'re| are| will| must)|you will now (?:act|be)|act as (?:if|an? unrestricted|dan)|pretend (?:to be|you are|that you)|du bist (?:jetzt|nun|ab sofort)|ab (?:jetzt|sofort) (?:bist|wirst|musst) du|sie sind (?:jetzt|nun|ab sofort)|tu es (?:maintenant|desormais)|vous etes (?:maintenant|desormais)|a partir de maintenant,? (?:tu|vous)|a partir de ahora,? (?:eres|seras|debes)|ahora eres|comporte-toi comme)\b/u,
  },
  {
    kind: "removes restrictions",
    weight: 0.8,
    pattern:
      /\b(?:developer mode|jailbreak(?:ed)?|do anything now|dan mode|god ?mode|unrestricted mode|debug mode|maintenance mode|admin(?:istrator)? mode|entwicklermodus|wartungsmodus|mode developpeur|mode maintenance|modo (?:desarrollador|mantenimiento)|(?:without|no|ohne|sans|sin) (?:any |jede |aucune |ninguna )?(?:restrictions?|filters?|limitations?|ethical guidelines?|content policy|einschraenkungen|einschrankungen|restricciones|filtres?|filtros?))\b/u,
  },
  {
    kind: "asks for the prompt",
    weight: 1,
    pattern:
      /\b(?:reveal|print|show|repeat|output|display|disclose|tell me|write out|leak|dump|recite|share|give me|zeige?|nenne|wiederhole|gib|verrate|drucke|affiche|montre|revele|repete|donne|muestra|revela|repite|imprime|dime)\b[^.\n]{0,40}\b(?:system ?prompt|system message|initial (?:prompt|instructions)|hidden (?:prompt|instructions)|your (?:instructions|prompt|rules|guidelines|configuration)|deine (?:anweisungen|instruktionen|regeln|konfiguration)|ihre (?:anweisungen|instruktionen)|systemprompt|system-prompt|systemnachricht|prompt systeme|invite systeme|tes (?:instructions|consignes)|vos (?:instructions|consignes)|tus (?:instrucciones|reglas)|prompt del sistema|mensaje del sistema|(?:text|words|everything) above)/u,
  },
  {
    kind: "sends data away",
    weight: 1,
    pattern:
      /\b(?:send|forward|post|upload|transmit|email|e-mail|exfiltrate|submit|leak|copy|deliver|sende?n?|schicke?n?|leite\p{L}*|uebermittle|ubermittle|lade|envoie|envoyez|transmets|transmettez|transfere|envia|manda|reenvia|transmite|sube)\b[^.\n]{0,80}\b(?:conversation|chat history|history|system prompt|api[- ]?keys?|passwords?|credentials?|secrets?|tokens?|private|confidential|all (?:files|data|emails|messages|contacts|documents)|user'?s? (?:data|email|address|name|information)|the user|verlauf|passwoerter|passworter|zugangsdaten|schluessel|schlussel|kundendaten|passwortern|passwoertern|customer list|customer data|nutzerdaten|geheimnisse|alle (?:dateien|daten|mails|nachrichten|dokumente)|historique|mots? de passe|identifiants?|cles? (?:api|d'api)|donnees|tous les (?:fichiers|messages|documents)|contrasenas?|credenciales|claves?|historial|datos|todos los (?:archivos|correos|mensajes))\b[^.\n]{0,60}(?:\bto\b|\ban\b|\ba\b|\bnach\b|\bvers\b|@|https?:)/u,
  },
  {
    kind: "hides from the user",
    weight: 1,
    pattern:
      /\b(?:do not|don't|never|without|dont|nicht|ohne|niemals|keinesfalls|erzaehle|erzahle|sage?|ne |sans|jamais|no |sin|nunca)\b[^.\n]{0,25}\b(?:tell|inform|mention|notif|alert|reveal|disclose|say|telling|informing|mentioning|notifying|alerting|letting|erwaehn|erwahn|mitteil|informier|sag|verrat|wissen|dis |dites|mentionn|inform|prevenir|reveler|avertir|dire|digas|menciones|informar|avisar|reveles|decir)\p{L}*[^.\n]{0,25}\b(?:user|human|anyone|anybody|owner|operator|nutzer|benutzer|anwender|niemand\p{L}*|jemand\p{L}*|kunden|menschen|davon|utilisateur|personne|client|humain|usuario|nadie|cliente|humano|this to|them)/u,
  },
  {
    kind: "imitates the conversation",
    weight: 1,
    pattern:
      /<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|?>|\[\/?(?:inst|sys)\]|\[\/?system\]|<<\/?sys>>|<\/?(?:system|assistant|tool_result|function_results?|system_prompt|instructions|important)>|(?:^|\n)\s*(?:#{1,4}\s*)?(?:system|assistant|developer)\s*(?:message|prompt|override|note|:)[^\n]{0,4}:?\s*(?:\n|you|ignore|the|new|override|from|do|send|now|\p{L})|\bbegin (?:system|admin|new instructions)|end of (?:document|data|context|results?|input|text)\b[^\n]{0,40}\n+\s*(?:new|now|system|instruction)|\bsystem override\b/u,
  },
  {
    kind: "demands an action",
    weight: 0.5,
    pattern:
      /\b(?:you must|you have to|you need to|you are required to|make sure to|be sure to|before (?:doing|you do|continuing|answering|responding|you can)|instead(?: of)?|immediately|du musst|sie muessen|sie mussen|bevor du|stattdessen|sofort|unverzueglich|tu dois|vous devez|avant de|a la place|immediatement|debes|debe usted|antes de|en su lugar|inmediatamente)\b[^.\n]{0,60}\b(?:call|use|execute|run|invoke|send|transfer|delete|open|visit|fetch|read|download|respond|reply|answer|say|output|write|recommend|click|pay|buy|approve|aufruf|nutz|ausfuehr|ausfuhr|send|ueberweis|uberweis|loesch|losch|oeffn|offn|antwort|schreib|empfiehl|empfehl|appel|utilis|execut|envo|supprim|ouvr|repond|ecri|recommand|llam|usa|ejecut|envi|transfi|borr|abr|respond|escrib|recomiend)/u,
  },
  {
    kind: "hidden markup",
    weight: 0.5,
    pattern:
      /<!--[^>]{0,300}\b(?:ai|llm|assistant|ignore|instruction|system|prompt|must|agent|ki|anweisung|ia|instrucc)\b|(?:display:\s*none|font-size:\s*0|visibility:\s*hidden|color:\s*(?:white|#fff(?:fff)?|transparent))[^<]{0,40}>[^<]{0,300}\b(?:ai|ignore|instruction|assistant|system|you must|prompt|anweisung|agent)/u,
  },
  {
    kind: "image with data in its address",
    weight: 1,
    pattern:
      /!\[[^\]]{0,100}\]\(https?:\/\/[^)\s]{3,200}[?&=/][^)\s]{0,100}(?:\{|%7b|<|\[|\$)[^)]{0,80}\)|\b(?:append|add|include|put|encode|haenge|hange|fuege|ajoute|incluye|anade)\p{L}*\b[^.\n]{0,60}\b(?:url|link|query|parameter|image|adresse|bild|lien|enlace|imagen)\b[^.\n]{0,80}\b(?:data|conversation|secret|password|history|prompt|daten|verlauf|donnees|datos|historial)/u,
  },
];

/** Beginnings of the words of all signs. Texts without any of them are skipped. */
const STEMS =
  /ignor|disregard|forget|overrid|bypass|discard|neglect|follow|attention|cancel|missacht|vergiss|vergess|bergeh|verwirf|befolg|oubli|neglig|compte|abstraction|olvid|omite|caso omiso|descart|dimentic|instruction|anweisung|instrukt|consigne|instruccion|you are now|from now on|act as|pretend|du bist|ab (?:jetzt|sofort)|tu es|vous etes|a partir|ahora|comporte|mode\b|modus|modo|jailbreak|anything now|restriction|einschr|restricc|filter|prompt|system|reveal|send|forward|upload|transmit|exfil|email|schick|leite|envo|envi|manda|transm|tell|inform|mention|notif|erw|verrat|mitteil|sag|dis |dites|digas|avis|inst\]|<|must|musst|mussen|dois|devez|debes|instead|immediately|stattdessen|sofort|immediatement|inmediat|!\[|append|encode|wichtig|important|urgent|dringend|assistant|assistent|asistent|sprachmodell|language model|\bllm|\bai\b|\bki\b|\bia\b|neue|nouvelle|nueva|new |dump|leak|print|zeig|wiederhol|affiche|montre|muestra|repet|repit/g;
/** Characters around a stem in which the signs are searched. */
const REACH = 220;

/** Invisible characters: tags, zero-width and direction marks. */
const UNSEEN =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\u{e0000}-\u{e0fff}]/gu;
const TAGS = /[\u{e0020}-\u{e007e}]{3,}/gu;
const NOT_ASCII = /[^\x00-\x7f]/;

/** The result of the heuristics for a text. */
export interface InjectionScore {
  /** Sum of the weights of the signs. 1 and more is a finding. */
  readonly score: number;
  readonly kinds: readonly string[];
}

/**
 * Returns the text in lower case, without accents and invisible characters. Hidden tag characters
 * become letters.
 */
function foldedText(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  return text
    .replace(TAGS, (tags) =>
      [...tags]
        .map((tag) => String.fromCharCode((tag.codePointAt(0) ?? 0xe0020) - 0xe0000))
        .join(""),
    )
    .replace(UNSEEN, "")
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[\u2018\u2019]/g, "'")
    .toLowerCase();
}

/** Returns the text without invisible characters. */
export function withoutUnseen(text: string): string {
  return NOT_ASCII.test(text)
    ? text.replace(TAGS, "").replace(/[\u{e0000}-\u{e0fff}\u202a-\u202e\u2066-\u2069]/gu, "")
    : text;
}

/** Searches a text for signs of instructions to a model. */
export function scoreInjection(text: string): InjectionScore {
  const plain = foldedText(decodedJson(text)?.text ?? text);
  const found = new Map<Sign, true>();
  const hidden = NOT_ASCII.test(text) ? (text.match(TAGS) ?? []) : [];
  for (const part of parts(plain))
    for (const sign of SIGNS)
      if (!found.has(sign) && sign.pattern.test(part)) found.set(sign, true);
  let score = hidden.length > 0 ? 1 : 0;
  for (const { weight } of found.keys()) score += weight;
  const kinds = [...found.keys()].map(({ kind }) => kind);
  return { score, kinds: [...new Set(hidden.length > 0 ? ["hidden text", ...kinds] : kinds)] };
}

/** Returns the parts of a text around the stems. */
function* parts(text: string): Generator<string> {
  let start = -1;
  let end = -1;
  for (const { index } of text.matchAll(STEMS)) {
    if (start < 0 || index - REACH > end) {
      if (start >= 0) yield text.slice(start, end);
      start = Math.max(0, index - REACH);
    }
    end = Math.min(text.length, index + REACH);
  }
  if (start >= 0) yield text.slice(start, end);
}
