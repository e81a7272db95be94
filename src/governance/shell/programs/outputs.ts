import { writes } from "../paths.ts";
import type { Spot } from "../state/state.ts";
import { known, startOf, type Text } from "../values/text.ts";

const OUTPUT_OPTION =
  /^(?:-o|-out|--output|--out|--outfile|--out-?[dD]ir|--output-?(?:dir|file|File)|--dest-?dir|--target-dir|--basetemp|--junit-?xml|--coverageDirectory|--cov-report-dir|--cacheDirectory|--log-file|--report-file)$/;

/** Programs that mean a format by `-o` and `--output`. */
const MEANS_FORMAT = new Set("kubectl oc helm az aws gcloud argocd flux istioctl doctl eksctl".split(" "));

/** Words in the names of options by which tools write: what they make, a report, a record. */
const WRITING = new Set(
  "out output outfile outdir outputdir outputfile dest destdir destination artifact report log logfile junit junitxml profile coverprofile cpuprofile memprofile blockprofile mutexprofile objdir trace redirect coverdir cidfile iidfile metadata graphviz profiling dump save tee cache prof diagnostic keylog snapshot localstorage coverage store modules modfile pkgdir dist distpath emit".split(
    " ",
  ),
);

/** Options of single tools by which they write, that mean something else for others. */
const WRITES_BY: ReadonlyMap<string, RegExp> = new Map([
  ["javac", /^-[dhs]$/],
  ["coverage", /^(?:-d|--directory|--data-file)$/],
  ["mkdocs", /^(?:-d|--site-dir)$/],
  ["gradle", /^(?:-g|--gradle-user-home)$/],
  ["gradlew", /^(?:-g|--gradle-user-home)$/],
  ["mvn", /^-D(?:maven\.repo\.local|outputDirectory)$/],
  ["mvnw", /^-D(?:maven\.repo\.local|outputDirectory)$/],
  ["yarn", /^--filename$/],
  ["bazel", /^--symlink_prefix$/],
  ...["tcpdump", "tshark", "dumpcap"].map((name): [string, RegExp] => [name, /^-w$/]),
  ["trace", /^(?:-C|-f|--coverdir|--file)$/],
  ...["pg_dump", "pg_dumpall"].map((name): [string, RegExp] => [name, /^(?:-f|--file)$/]),
  ...["mysqldump", "mariadb-dump"].map((name): [string, RegExp] => [name, /^(?:-[rT]|--result-file|--tab)$/]),
]);
const BETWEEN_WORDS = /[-_.]|(?<=[a-z])(?=[A-Z])/;
const MAX_OPTION = 60;

const isWriting = (option: string): boolean =>
  option.length < MAX_OPTION && option.split(BETWEEN_WORDS).some((word) => WRITING.has(word.toLowerCase()));

/** What may be the next argument instead of a value counts only where it leads elsewhere, or to a hidden file. */
export const LEADS_ELSEWHERE = /^(?:\/|~|\.\.(?:\/|$)|\.\w)/;
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;

/** Subcommands that make a folder for something new. */
const MAKES = new Set("new init startproject startapp venv vendor create create-project deploy clone".split(" "));

/** Programs that write where their arguments say: templates for projects, and ways to copy. */
const MAKES_FILES =
  /^(?:create-\S+|degit|tiged|giget|mkdirp|make-dir-cli|cpy|cpy-cli|copyfiles|ncp|cpx|script|sphinx-build|ctags|uctags|etags)$/;

/** Where a tool writes what it makes; one that means something else by these options names nothing elsewhere with them. */
export function noteOutputs(name: string, args: readonly Text[], spot: Spot): void {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as Text;
    const text = startOf(arg);
    if (!text.startsWith("-")) continue;
    // `-o../file`, in one word.
    if (/^-o(?:\.{0,2}\/|~)/.test(text)) writes(spot, arg.type === "known" ? known(text.slice("-o".length)) : arg);
    const equals = text.indexOf("=");
    const option = equals < 0 ? text : text.slice(0, equals);
    const value = equals < 0 ? args[at + 1] : arg.type === "known" ? known(text.slice(equals + 1)) : arg;
    if (!value) continue;
    const isFile = OUTPUT_OPTION.test(option) && !(MEANS_FORMAT.has(name) && /^(?:-o|--output)$/.test(option));
    if (isFile || WRITES_BY.get(name)?.test(option)) writes(spot, fileIn(value));
    else if (isWriting(option) && isPathOf(value, equals >= 0)) writes(spot, fileIn(value));
  }
  if (MAKES_FILES.test(name)) for (const arg of args) if (LEADS_ELSEWHERE.test(startOf(arg))) writes(spot, arg);
  const makes = args.findIndex((arg) => !startOf(arg).startsWith("-"));
  if (makes < 0 || !MAKES.has(startOf(args[makes] as Text))) return;
  for (const arg of args.slice(makes + 1)) if (LEADS_ELSEWHERE.test(startOf(arg))) writes(spot, arg);
}

function isPathOf(value: Text, isSure: boolean): boolean {
  const text = startOf(fileIn(value));
  return !ADDRESS.test(text) && (LEADS_ELSEWHERE.test(text) || (isSure && text.includes("/")));
}

/** `xml:report.xml` and `type=local,dest=folder` name a file behind what it is. */
function fileIn(value: Text): Text {
  if (value.type !== "known") return value;
  const dest = /(?:^|,)dest=([^,]*)/.exec(value.text)?.[1];
  return known(dest ?? value.text.replace(/^\w+:(?!\/\/)/, ""));
}
