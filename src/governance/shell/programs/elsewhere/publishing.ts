import type { ProgramCall } from "../../call.ts";
import { noteEffect } from "../../state.ts";
import { textOf } from "../../values/text.ts";

/** How tools for building send what was built to others, by their arguments without options. */
const PUBLISHES: ReadonlyMap<string, RegExp> = new Map([
  ...["poetry", "pdm", "uv", "hatch", "flit", "rye", "bun", "vsce", "ovsx"].map((name): [string, RegExp] => [
    name,
    /^publish\b/,
  ]),
  ["yarn", /^npm (?:publish|login|logout|tag)\b/],
  ["gem", /^(?:push|yank|owner|signin)\b/],
  ["mvn", /(?:^| )(?:deploy|deploy:\S+|release:\S+|site-deploy)(?: |$)/],
  ["mvnw", /(?:^| )(?:deploy|deploy:\S+|release:\S+|site-deploy)(?: |$)/],
  ["gradle", /(?:^|[ :])(?:publish(?!ToMavenLocal)\w*|uploadArchives)(?: |$)/],
  ["gradlew", /(?:^|[ :])(?:publish(?!ToMavenLocal)\w*|uploadArchives)(?: |$)/],
  ["dotnet", /^nuget (?:push|delete)\b/],
  ["nuget", /^(?:push|delete)\b/],
  ["mix", /^hex\.(?:publish|retire|owner|user)\b/],
  ["python", /^twine upload\b/],
  ["python3", /^twine upload\b/],
  ["pod", /^(?:trunk|repo) push\b/],
  ["flutter", /^pub publish\b/],
  ["dart", /^pub publish\b/],
  ["goreleaser", /^release\b/],
  ["semantic-release", /^/],
  ["np", /^/],
  ["changeset", /^publish\b/],
  ["lerna", /^publish\b/],
  ["nx", /^release\b/],
]);

/** Code that such tools are given in the command. */
const GIVES_CODE: ReadonlyMap<string, RegExp> = new Map([
  ["clj", /(?:^| )(?:-e|--eval)(?: |$)/],
  ["clojure", /(?:^| )(?:-e|--eval)(?: |$)/],
  ["swift", /^(?:-e|-)(?: |$)/],
  ["rake", /(?:^| )(?:-[eEp]|--execute\S*)/],
  ["rails", /^(?:runner|r) (?!\S+\.rb(?: |$))/],
  ["mix", /^(?:run|eval) .*(?:-e|--eval)\b|^eval /],
  ["php", /(?:^|\/)artisan tinker .*--execute/],
]);

export function notePublishing({ name, args, spot }: ProgramCall): void {
  const [publishes, givesCode] = [PUBLISHES.get(name), GIVES_CODE.get(name)];
  if (!publishes && !givesCode) return;
  const words = args.map(textOf);
  const plain = words.filter((word) => !word.startsWith("-")).join(" ");
  if (publishes?.test(plain))
    noteEffect(spot, { kind: "sends", what: `sends what was built to others: ${name} ${plain}`.slice(0, 120) });
  if (givesCode?.test(words.join(" ")))
    noteEffect(spot, { kind: "code", what: `gives ${name} code that stands in the command` });
}
