import type { ErrorKind } from "../port.ts";
import { resetAfterMs, retryHintMs } from "./retry-hint.ts";

/** What a provider or a program said about a failure. */
export interface ToldError {
  /** The HTTP status, where it is told apart from the text. */
  readonly status?: number;
  readonly text: string;
  /** With it, points in time at which a limit ends become a time to wait. */
  readonly now?: number;
}

export interface KnownError {
  readonly kind: ErrorKind;
  readonly retryAfterMs?: number;
}

type Said = readonly (readonly [ErrorKind, RegExp])[];

const SESSION_LOST: Said = [
  ["session-lost", /no conversation found with session|session not found|requires a valid session id/i],
];

const NO_MONEY: Said = [
  ["quota", /insufficient[_ ](?:quota|credits?|balance|funds)|(?:credit|account) balance is too low|out of credits/i],
  ["quota", /billing[_ ](?:error|hard[_ ]limit|not[_ ]active)|reached your specified (?:\w+ )?usage limits?/i],
];

/** What some providers say with 400, although there are better numbers for it. */
const SAID_WITH_400: Said = [...NO_MONEY, ["auth", /\bapi[ _]key (?:not valid|expired|not found|invalid)\b/i]];

/**
 * Asked once more, the answer would be the same. It comes before everything that passes: such a sentence may quote what an
 * agent said or did, or name the way it came by.
 */
const LASTING: Said = [
  [
    "other",
    /context[ _-]?(?:window|length|size|limit)|maximum context|prompt is too long|too many (?:input |total |prompt )?tokens|(?:input|prompt|request|message|string|conversation)\b.{0,30} too (?:long|large|big)|input exceeds/i,
  ],
  [
    "other",
    /\bmodel\b[^.;\n]{0,80}(?:does not exist|do not have access|(?<!host )not found|not supported|deprecated)|(?:unknown|invalid|unsupported|no such)[ _-]model\b|model_not_found/i,
  ],
  ["other", /content[_ ](?:policy|filter)|unsupported[_ ](?:parameter|value|country)/i],
];

/** One request that is larger than all that a minute allows: it is told as one too many, and will always be. */
const TOO_LARGE: Said = [["other", /request too large|tokens must be reduced/i]];

/** Kinds by what is said, whatever the number. The first that fits holds: what would be taken for another comes first. */
const SAID: Said = [
  // Node's one word for a connection that was cut; Gemini gives it the number 500.
  ["network", /^(?:[\w ]+: )*terminated\.?$/i],
  // A limit for a minute is called a quota too, and is over before a person has to do something.
  ["rate-limit", /quota.{0,200}\bper[ -_]?(?:minute|second)|(?:per[ -_]?(?:minute|second)).{0,200}\bquota/is],
  ...NO_MONEY,
  [
    "quota",
    /exceeded your (?:current|monthly|daily) (?:quota|limit|usage)|quota (?:was |has been |is )?(?:exceeded|exhausted)/i,
  ],
  [
    "quota",
    /usage limit|(?:hit|reached) your (?:\S+ ){0,4}(?:limit|budget|cap)\b|out of (?:extra )?usage\b|(?:hour|daily|weekly|monthly|spend(?:ing)?) limit (?:was |has been )?(?:reached|exceeded)/i,
  ],
  ["quota", /payment[_ ]required|free usage exceeded|exhausted your (?:daily )?(?:quota|capacity)/i],
];

const AUTH =
  /(?:invalid|incorrect|missing|no|expired)[ _-]+(?:x-)?(?:api|access)[ _-]*(?:key|token)|api[ _-]?key (?:is |was )?(?:missing|not (?:found|set|valid)|invalid|expired)|authentication[ _](?:error|fail|required)|unauthori[sz]ed|not (?:logged|signed) in|(?:run|use|type) \S*\/?login\b|log ?in again|(?:oauth|access|bearer|refresh) token\b.{0,60}(?:expired|revoked|invalid|missing)|invalid bearer token|permission[_ ]error|(?:^|\b(?:403|access|request|status|error)\W{1,3})forbidden\b|could not resolve authentication|credentials? (?:are |were |is |was |have |has )?(?:missing|not found|expired|invalid)/i;

/** Said by programs that do not tell the status. */
const SAID_WITHOUT_STATUS: Said = [
  ["auth", AUTH],
  // The type that some providers give to a refused key too.
  ["other", /invalid[_ ]['"`]?(?:request|params|argument|prompt|schema|input|value|type)|\bis not valid\b/i],
  ["rate-limit", /rate[ _-]?limit|too many requests|resource[_ ]exhausted|throttl/i],
  [
    "overloaded",
    /overloaded|(?:over|at|no|out of) capacity|service[ _]unavailable|temporarily unavailable|internal server error/i,
  ],
  [
    "network",
    /\bE(?:CONN(?:REFUSED|RESET|ABORTED)|NOTFOUND|AI_AGAIN|TIMEDOUT|HOSTUNREACH|NETUNREACH|PIPE)\b|socket hang up|fetch failed|network (?:error|is unreachable)|connection (?:error|refused|reset|closed|failed|timed out)|unable to connect|cannot connect|could not resolve host|getaddrinfo|timed? ?out|self[- ]signed certificate|certificate (?:has expired|verify failed)/i,
  ],
];

const BY_STATUS: Readonly<Record<number, ErrorKind>> = {
  401: "auth",
  402: "quota",
  403: "auth",
  408: "network",
  425: "network",
  429: "rate-limit",
  // The provider is in trouble, which passes as having no room does.
  500: "overloaded",
  502: "network",
  503: "overloaded",
  504: "network",
  529: "overloaded",
};

/** A number that stands where a status stands: "API Error: 529", "status code 429", "(401)", "HTTP 503", `"code": 429`. */
const STATUS_IN_TEXT =
  /(?:(?:\b(?:status(?: code)?|http(?:\/[\d.]+)?|error(?: code)?)|"(?:code|status)")[ :=]+|\()([45]\d\d)\b/i;

/** Says what kind of failure it is, and how long it is to be left alone where that was told. */
export function classifyError({ status, text, now }: ToldError): KnownError {
  const kind = kindOf(text, status);
  const retryAfterMs = retryHintMs(text) ?? (now === undefined ? undefined : resetAfterMs(text, now));
  const isPassing = kind === "rate-limit" || kind === "overloaded" || kind === "quota";
  return { kind, ...(retryAfterMs === undefined || !isPassing ? {} : { retryAfterMs }) };
}

/** What programs say in the place of the model when its provider refuses: the whole of an answer, and never a part of one. */
const SENTENCES = [
  /^(?:[\w-]+ ){0,3}usage limit (?:was |has been )?reached(?:\|\d{10,13})?[.!]?$/i,
  /^(?:[\w-]+ ){0,2}limit reached\b.{0,5}\bresets?\b.{1,60}$/i,
  /^you[’']ve (?:hit|reached) your (?:[\w-]+ ){0,3}(?:limit|budget)(?:[.!]?|(?: ·| ∙|\.) .{0,250}\b(?:resets?|try again|upgrade|credits)\b.{0,100})$/i,
  /^you[’']re out of (?:extra )?usage(?: credits)?(?:[.!]?| · .{1,100})$/i,
  /^you have exhausted your (?:daily )?(?:capacity|quota) on this model\.?(?: your quota will reset after .{1,40})?$/i,
  /^(?:invalid api key|not logged in|credit balance is too low)(?: · .{1,80})?$/i,
  /^api error: (?:request rejected \()?[45]\d\d\b.{0,400}$/i,
];

/** A refusal that comes as an ordinary answer; undefined for whatever a model may have said. */
export function refusalInWords(text: string, now: number): KnownError | undefined {
  const said = text.trim();
  if (!SENTENCES.some((sentence) => sentence.test(said))) return undefined;
  const known = classifyError({ text: said, now });
  return known.kind === "other" ? undefined : known;
}

function kindOf(text: string, status = statusIn(text)): ErrorKind {
  const lost = said(SESSION_LOST, text);
  if (lost !== undefined) return lost;
  if (isLasting(status)) return (status === 400 ? said(SAID_WITH_400, text) : undefined) ?? "other";
  return said(SAID, text) ?? byStatus(text, status) ?? said([...LASTING, ...SAID_WITHOUT_STATUS], text) ?? "other";
}

/** Whether a provider says by a number alone that asking again is pointless, as opposed to who may ask, or how often. */
export function isLasting(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && BY_STATUS[status] === undefined;
}

function byStatus(text: string, status: number | undefined): ErrorKind | undefined {
  if (status === undefined) return undefined;
  const kind = BY_STATUS[status] ?? (status > 504 ? "network" : undefined);
  if (status === 429) return said(TOO_LARGE, text) ?? kind;
  // Servers in front of a model tell what it refused as trouble of their own.
  return status >= 500 && kind !== undefined ? (said(LASTING, text) ?? kind) : kind;
}

function said(table: Said, text: string): ErrorKind | undefined {
  return table.find(([, pattern]) => pattern.test(text))?.[0];
}

function statusIn(text: string): number | undefined {
  const found = STATUS_IN_TEXT.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
