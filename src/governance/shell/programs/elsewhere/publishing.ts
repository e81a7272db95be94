import type { ProgramCall } from "../../call.ts";
import { noteEffect } from "../../state/state.ts";
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
  ...["python", "python3"].map((name): [string, RegExp] => [
    name,
    /^twine upload\b|(?:^|\/)setup\.py .*\b(?:upload|register)\b/,
  ]),
  // A task of every gem.
  ["rake", /(?:^| )release(?::\S+)?(?= |$)/],
  ["mkdocs", /^gh-deploy\b/],
  ["pod", /^(?:trunk|repo) push\b/],
  ["flutter", /^pub publish\b/],
  ["dart", /^pub publish\b/],
  ["goreleaser", /^release\b/],
  ["semantic-release", /^/],
  ...["np", "release-it", "gh-pages", "surge"].map((name): [string, RegExp] => [name, /^/]),
  ["eas", /^(?:build|submit|update)\b/],
  ["expo", /^publish\b/],
  ["fastlane", /^(?:deliver|pilot|supply|upload_\w+|release|beta|deploy)\b/],
  ["code-push", /^release/],
  ["ng", /^deploy\b/],
  ["snyk", /^monitor\b/],
  ["sonar-scanner", /^/],
  ["skopeo", /^(?:copy|sync|delete)\b/],
  ["stack", /^upload\b/],
  ["cabal", /^upload\b/],
  ["changeset", /^publish\b/],
  ["lerna", /^publish\b/],
  ["nx", /^release\b/],
  ["svn", /^(?:commit|ci|import|copy|cp|delete|mkdir|move|lock|propset --revprop)\b/],
  ["cvs", /^(?:commit|ci|import|tag)\b/],
  ...["hg", "fossil", "bzr", "darcs", "sl"].map((name): [string, RegExp] => [
    name,
    /^(?:push|send|email|sync|submit)\b/,
  ]),
]);

/** Code that such tools are given in the command. */
const GIVES_CODE: ReadonlyMap<string, RegExp> = new Map([
  ["clj", /(?:^| )(?:-e|--eval)(?: |$)/],
  ["clojure", /(?:^| )(?:-e|--eval)(?: |$)/],
  ["swift", /^(?:-e|-)(?: |$)/],
  ["crystal", /^eval(?: |$)/],
  ["rake", /(?:^| )(?:-[eEp]|--execute\S*)/],
  ["rails", /^(?:runner|r) (?!\S+\.rb(?: |$))/],
  ["mix", /^(?:run|eval) .*(?:-e|--eval)\b|^eval /],
  ["php", /(?:^|\/)artisan tinker .*--execute/],
]);

/** How tools change programs that the person has everywhere, by their arguments. */
const CHANGES_PROGRAMS: ReadonlyMap<string, RegExp> = new Map([
  ["pipx", /^(?:install|inject|upgrade|uninstall|ensurepath|reinstall)/],
  ["bun", /^upgrade\b|^(?=.*(?<![^ ])(?:install|i|add|a|remove|rm|update|unlink)\b).* (?:-g|--global)(?: |$)/],
  [
    "deno",
    /^(?:upgrade|uninstall)\b|^install\b.* (?:-(?![^g ]*(?: |$))\w+|--global|--root\S*|-n|--name\S*)(?: |$)|^jupyter\b.* --install/,
  ],
  ["pnpm", /^(?:self-update|setup)\b/],
  ["dotnet", /^tool (?:install|update|uninstall)\b.* (?:-g|--global)(?: |$)/],
  ...["dart", "flutter"].map((name): [string, RegExp] => [name, /^pub global (?:activate|deactivate)\b/]),
  ["mix", /^archive\.(?:install|uninstall)\b/],
  ["bundle", /^config\b.* --global(?: |$)/],
  ["uv", /^tool (?:install|upgrade|uninstall)\b/],
  ["volta", /^(?:install|uninstall|setup)\b/],
  ["mise", /^(?:use|install|settings|trust)\b.*(?:-g|--global)\b|^trust\b/],
  ["rustup", /^(?:self uninstall|(?:toolchain )?uninstall)\b/],
  ...["nvm", "fnm", "pyenv", "rbenv"].map((name): [string, RegExp] => [name, /^(?:uninstall|global)\b/]),
  ...["conda", "mamba", "micromamba"].map((name): [string, RegExp] => [name, /^env remove\b/]),
  ["composer", /^global\b|^config\b.* (?:-g|--global)(?: |$)|^config (?:-g|--global)(?: |$)/],
  ["poetry", /^config\b.* (?:pypi-token|http-basic)\./],
  ["asdf", /^(?:uninstall|global|set (?:-u|--home))\b/],
  ["guix", /^(?:install|remove|upgrade|pull|package)\b/],
]);

const MAY_DO_MORE = new Set([...PUBLISHES.keys(), ...GIVES_CODE.keys(), ...CHANGES_PROGRAMS.keys()]);

export const publishes = (name: string): boolean => PUBLISHES.has(name);

export function notePublishing({ name, args, spot }: ProgramCall): void {
  if (!MAY_DO_MORE.has(name)) return;
  const [sends, givesCode, changes] = [PUBLISHES.get(name), GIVES_CODE.get(name), CHANGES_PROGRAMS.get(name)];
  const words = args.map(textOf);
  const plain = words.filter((word) => !word.startsWith("-")).join(" ");
  const isRehearsal = words.some((word) => /^--(?:dry-run|help|version)$/.test(word));
  if (sends?.test(plain) && !isRehearsal)
    noteEffect(spot, { kind: "sends", what: `sends what was built to others: ${name} ${plain}`.slice(0, 120) });
  if (changes?.test(words.join(" ")))
    noteEffect(spot, {
      kind: "ours",
      what: `changes programs of the person with ${name}`,
      instead: "Use it without installing it, or install it in the project.",
    });
  if (givesCode?.test(words.join(" ")))
    noteEffect(spot, { kind: "code", what: `gives ${name} code that stands in the command` });
}
