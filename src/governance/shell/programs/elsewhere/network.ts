import type { Behaviour } from "../../call.ts";
import { type Arguments, readArguments } from "../../options.ts";
import {
  contentOf,
  isHere,
  isLoopback,
  noteSecrets,
  reads,
  sendBytes,
  store,
  unpacksInto,
  writes,
} from "../../paths.ts";
import { noteEffect, noteUnknown, type Spot } from "../../state/state.ts";
import { isSecretAddress } from "../../values/addresses.ts";
import { cameFrom, type Flow, FROM, joinFlows, literal, NOTHING, OUTPUT, TERMINAL } from "../../values/flow.ts";
import { describeText, joinTexts, known, startOf, type Text, textOf, unknown } from "../../values/text.ts";

const CURL_VALUED =
  "A user-agent b cookie c cookie-jar d data data-raw data-binary data-ascii data-urlencode json D dump-header e referer E cert key cacert capath F form form-string H header proxy-header K config m max-time connect-timeout o output output-dir T upload-file u user U proxy-user x proxy preproxy X request w write-out y Y z time-cond r range C continue-at resolve connect-to interface unix-socket abstract-unix-socket netrc-file retry retry-delay retry-max-time limit-rate max-filesize url url-query ciphers tls-max pinnedpubkey socks5 socks5-hostname noproxy stderr trace trace-ascii Q quote engine egd-file oauth2-bearer t telnet-option a dns-servers variable expand-url hsts alt-svc libcurl etag-save etag-compare ssl-sessions proto proto-default proto-redir expand-data expand-header";

const CURL_LONG =
  "netrc netrc-optional help version silent show-error fail location remote-name remote-name-all remote-header-name insecure get head verbose compressed include globoff";

const URL_WORD = /^[a-z][a-z0-9+.-]*:\/\/|\.|^localhost\b|:\d+/i;

/** Known as it stands: no file has such a name, so that `?` in it is not a pattern. */
const isAddress = (target: Text): boolean =>
  target.type === "known" || (target.type === "glob" && /^https?:\/\//.test(target.text));

/** What an argument of curl puts into a request: itself, or a file behind `@`. */
function payload(value: Text, spot: Spot, marks: RegExp): Flow {
  const text = textOf(value);
  if (value.type !== "known" && value.type !== "glob") return cameFrom(FROM.program);
  const at = marks.exec(text);
  if (!at) return value.type === "glob" ? OUTPUT : literal(text);
  const path = text.slice(at.index + at[0].length).split(/[;,]/, 1)[0] ?? "";
  return contentOf(value.type === "glob" ? { type: "glob", text: path } : known(path), spot);
}

/** Options of curl whose value is sent, by how a file is named in it. */
const CURL_SENDS: readonly [names: readonly string[], file: RegExp][] = [
  [["d", "data", "data-ascii", "data-binary", "json", "H", "header", "proxy-header", "b", "cookie"], /^@/],
  [["data-urlencode", "variable", "url-query"], /^[^=@]*@/],
  [["F", "form"], /=[@<]/],
  [["T", "upload-file", "netrc-file", "E", "cert", "key"], /^/],
  [
    ["data-raw", "form-string", "u", "user", "A", "user-agent", "e", "referer", "oauth2-bearer", "X", "request"],
    /(?!)/,
  ],
];
const CURL_HEADERS = new Set("H header proxy-header b cookie url-query variable netrc-file E cert key".split(" "));
const CURL_WRITES =
  "D dump-header c cookie-jar stderr trace trace-ascii etag-save libcurl hsts alt-svc ssl-sessions".split(" ");
/** Of servers that take whatever lines they are given. */
const OTHER_ADDRESS = /^(?!https?:|ftps?:|sftp:|scp:|file:)[a-z][a-z\d+.-]*:\/\//i;
const FILE_ADDRESS = /^file:\/\/[^/]*(\/.*)$/i;
const CHANGES = /^(?:DELETE|PUT|PATCH)$/i;

/** What a request asks a server to do: anything but reading is work, and replacing or deleting something elsewhere is for people. */
function noteMethods(methods: readonly string[], where: Text | undefined, spot: Spot): void {
  if (where && methods.some((method) => CHANGES.test(method)))
    noteEffect(spot, { kind: "sends", what: `changes something at ${describeText(where)}` });
  if (methods.some((method) => !/^(?:GET|HEAD)$/i.test(method)))
    noteEffect(spot, { kind: "runs", what: "asks a server to change something" });
}

/** Tokens of the machine are as secret as those in a home. */
function noteTokens(targets: readonly Text[], spot: Spot): void {
  const path = known(`${spot.line.place.home}/.config/gcloud`);
  for (const target of targets)
    if (isSecretAddress(textOf(target)))
      noteEffect(spot, { kind: "reads", what: `reads tokens of the machine from ${describeText(target)}`, path });
}

export const curl: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: CURL_VALUED, long: CURL_LONG });
  const targets = [...given.operands, ...given.values("url", "expand-url")];
  for (const target of targets) {
    const path = FILE_ADDRESS.exec(textOf(target))?.[1];
    if (path !== undefined) reads(spot, known(path));
    if (OTHER_ADDRESS.test(textOf(target))) noteUnknown(spot, `talks to ${describeText(target)}, no web server`);
  }
  noteTokens(targets, spot);
  const where = [...given.values("connect-to", "resolve"), ...targets].find((one) => !isHere(one));
  // Files that only a server of this machine gets are read, too.
  const flows = CURL_SENDS.flatMap(([names, file]) => given.values(...names).map((one) => payload(one, spot, file)));
  if (where || targets.length === 0) {
    for (const target of targets) if (!isAddress(target)) flows.push(OUTPUT);
    // A variable of the environment.
    if (given.values("variable").some((value) => textOf(value).startsWith("%"))) flows.push(OUTPUT);
    sendBytes(joinFlows(flows), describeText(where ?? known("a server")), spot);
  }
  noteMethods(given.values("X", "request").map(textOf), where, spot);
  const isChange = CURL_SENDS.slice(0, 4).some(([names]) =>
    given.has(...names.filter((one) => !CURL_HEADERS.has(one))),
  );
  if (!given.has("G", "get") && isChange) noteMethods(["POST"], where, spot);
  for (const file of given.values("K", "config")) {
    reads(spot, file);
    noteUnknown(spot, `takes options for curl from ${describeText(file)}`);
  }
  for (const socket of given.values("unix-socket", "abstract-unix-socket"))
    noteUnknown(spot, `talks to ${describeText(socket)}`);
  if (given.values("Q", "quote").length > 0) noteEffect(spot, { kind: "sends", what: "gives commands to a server" });
  for (const file of given.values(...CURL_WRITES)) writes(spot, file);
  for (const format of given.values("w", "write-out")) writesOut(format, spot);
  for (const engine of given.values("engine"))
    noteEffect(spot, { kind: "code", what: `makes curl load ${describeText(engine)}` });
  for (const proxy of given.values("x", "proxy", "preproxy", "socks5", "socks5-hostname"))
    if (!isLoopback(textOf(proxy))) noteUnknown(spot, `sends what is fetched through ${describeText(proxy)}`);
  if (given.has("n", "netrc", "netrc-optional")) reads(spot, known(`${spot.line.place.home}/.netrc`));
  if (given.values("proto-default").some((one) => textOf(one) === "file")) for (const one of targets) reads(spot, one);
  noteSecrets(given.values("b", "cookie"), spot);
  return fetched(targets, given, spot);
};

/** What curl tells in the end may come from a file, and go into one. */
function writesOut(format: Text, spot: Spot): void {
  const text = textOf(format);
  if (text.startsWith("@")) reads(spot, known(text.slice(1)));
  for (const [, path = ""] of text.matchAll(/%output\{(?:>>)?([^}]*)\}/g)) writes(spot, known(path));
}

/** What comes from the network goes into files, or is printed. */
function fetched(targets: readonly Text[], given: Arguments, spot: Spot): Flow {
  const flow = cameFrom(FROM.network);
  const outputs = given.values("o", "output");
  const [folder] = given.values("output-dir");
  const inFolder = (file: Text) => (folder ? joinTexts([folder, known("/"), file]) : file);
  for (const file of outputs) store(inFolder(file), flow, { spot });
  const isNamed = given.has("O", "remote-name", "J", "remote-header-name", "remote-name-all");
  if (isNamed) for (const target of targets) store(inFolder(nameIn(target)), flow, { spot });
  const isPrinted = outputs.some((file) => textOf(file) === "-") || (outputs.length === 0 && !isNamed);
  return isPrinted ? flow : NOTHING;
}

/** The name under which a file is saved that comes from an address. */
function nameIn(address: Text): Text {
  if (address.type !== "known") return unknown("it is the name of what is fetched");
  const name = (address.text.split(/[?#]/, 1)[0] ?? "").replace(/^.*\//, "");
  return known(name || "index.html");
}

const WGET_WRITES = "o output-file a append-output save-cookies rejected-log warc-file hsts-file".split(" ");

export const wget: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued:
      "O output-document o output-file a append-output i input-file P directory-prefix U user-agent header post-data post-file body-data body-file method e execute t tries T timeout load-cookies save-cookies user password referer A R D I X Q limit-rate use-askpass config certificate private-key ca-certificate rejected-log warc-file hsts-file",
    long: "quiet no-check-certificate recursive continue help version no-verbose spider mirror",
  });
  const flows = [
    ...given.values("post-file", "body-file", "certificate", "private-key").map((file) => contentOf(file, spot)),
    ...given.values("post-data", "body-data", "header", "user-agent", "U").map((value) => payload(value, spot, /(?!)/)),
    ...given.operands.map((target) => (isAddress(target) ? NOTHING : OUTPUT)),
  ];
  for (const option of given.values("e", "execute", "use-askpass"))
    noteUnknown(spot, `gives wget a setting: ${describeText(option)}`);
  for (const file of given.values("config")) noteUnknown(spot, `takes options for wget from ${describeText(file)}`);
  noteTokens(given.operands, spot);
  const where = given.operands.find((target) => !isHere(target));
  if (where || given.operands.length === 0) sendBytes(joinFlows(flows), describeText(where ?? known("a server")), spot);
  const methods = [...given.values("method"), ...(given.has("post-data", "post-file") ? [known("POST")] : [])];
  noteMethods(methods.map(textOf), where, spot);
  const flow = cameFrom(FROM.network);
  for (const file of given.values(...WGET_WRITES)) writes(spot, file);
  noteSecrets(given.values("i", "input-file", "load-cookies"), spot);
  const outputs = given.values("O", "output-document");
  if (outputs.some((file) => textOf(file) === "-")) return flow;
  for (const file of outputs) store(file, flow, { spot });
  const [folder] = given.values("P", "directory-prefix");
  if (outputs.length === 0 && !given.has("spider"))
    for (const target of given.operands)
      store(folder ? joinTexts([folder, known("/"), nameIn(target)]) : nameIn(target), flow, { spot });
  // What it saves then is named by what stands in the list, or in pages.
  if (given.has("i", "input-file", "r", "recursive", "m", "mirror")) {
    writes(spot, folder ?? known("."));
    spot.line.unpacked = flow;
    unpacksInto(spot, folder ?? known("."));
  }
  return NOTHING;
};

const METHOD = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/i;

/** httpie and its like: `name=value` and `@file` behind the address. */
export const http: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, {
    valued: "o output a auth A auth-type s style p print session timeout proxy cert cert-key verify",
  });
  noteTokens(given.operands, spot);
  noteSecrets(given.operands, spot);
  const address = given.operands.find((one) => URL_WORD.test(startOf(one))) ?? known("a server");
  const flows = given.operands.map((one) => (one.type === "known" && !/@/.test(one.text) ? NOTHING : OUTPUT));
  if (spot.input.text !== "" && spot.input !== TERMINAL) flows.push(spot.input);
  const isOwn = isHere(address);
  if (!isOwn) sendBytes(joinFlows(flows), describeText(address), spot);
  const method = textOf(given.operands[0] ?? known(""));
  const hasBody = given.operands.some((one) => /^[\w.-]+(?::=|=(?!=)|@)/.test(textOf(one)));
  noteMethods(METHOD.test(method) ? [method] : hasBody ? ["POST"] : [], isOwn ? undefined : address, spot);
  for (const file of given.values("o", "output")) store(file, cameFrom(FROM.network), { spot });
  if (given.has("d", "download")) store(nameIn(address), cameFrom(FROM.network), { spot });
  return cameFrom(FROM.network);
};

/** A plain connection: what comes in goes out. */
export const netcat: Behaviour = ({ name, args, spot }) => {
  const given = readArguments(args, {
    valued: "e exec c sh-exec lua-exec p s w i X x q T O I m P V k-count source-port source wait proxy",
    long: "listen keep-open udp verbose ssl send-only recv-only",
  });
  for (const program of given.values("e", "exec", "c", "sh-exec", "lua-exec")) {
    noteEffect(spot, { kind: "code", what: `gives ${describeText(program)} to what connects` });
    spot.line.engine.runSource(program, spot);
  }
  const [host = known("a server")] = given.operands;
  if (given.has("U", "unixsock")) noteUnknown(spot, `talks to ${describeText(host)}`);
  if (given.has("z")) return OUTPUT;
  const where = given.has("l", "listen") ? "what connects" : describeText(host);
  if (spot.input !== TERMINAL) sendBytes(spot.input, where, spot);
  else noteEffect(spot, { kind: "fetches", what: `${name} connects to ${where}` });
  return cameFrom(FROM.network);
};

export const socat: Behaviour = ({ args, spot }) => {
  const addresses = args.filter((arg) => !/^-[a-zA-Z]/.test(textOf(arg))).flatMap((arg) => textOf(arg).split("!!"));
  const isOut =
    addresses.some(
      (one) => !/^(?:-|STDIO|STDIN|STDOUT|OPEN|FILE|GOPEN|CREATE?|PIPE|EXEC|SYSTEM|SHELL|\.{0,2}\/)/i.test(one),
    ) || args.some((arg) => arg.type !== "known");
  for (const one of addresses) {
    const [, kind = "", rest = ""] = /^([A-Za-z0-9-]+)(?![A-Za-z0-9-]):?(.*)$/s.exec(one) ?? [];
    if (/^(?:EXEC|SYSTEM|SHELL)$/i.test(kind)) {
      noteEffect(spot, { kind: isOut ? "code" : "unknown", what: `gives a program to what connects: ${one}` });
      spot.line.engine.runSource(
        known(
          rest
            .replace(/,\w+(?:=.*)?$/, "")
            .replace(/\\(.)/g, "$1")
            .replace(/^"(.*)"$/, "$1"),
        ),
        spot,
      );
    }
    if (/^(?:CREATE?|GOPEN)$/i.test(kind)) writes(spot, known(rest.split(",", 1)[0] ?? ""));
  }
  if (isOut) noteEffect(spot, { kind: "sends", what: "connects something of this machine with another one" });
  return cameFrom(FROM.network);
};

/** Programs whose arguments alone reach other machines. */
export const asks: Behaviour = ({ name, args, spot }) => {
  const isKnown = args.every((arg) => arg.type === "known");
  noteEffect(spot, {
    kind: isKnown ? "fetches" : "sends",
    what: isKnown ? `${name} asks another machine` : `${name} tells another machine what is not in the command itself`,
  });
  return cameFrom(FROM.network);
};

/** Mail, file transfer, chat: what they are given leaves. */
export const sends: Behaviour = ({ name, spot }) => {
  noteEffect(spot, { kind: "sends", what: `${name} sends to another machine` });
  return OUTPUT;
};
