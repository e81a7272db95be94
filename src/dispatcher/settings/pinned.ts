import type { ConfigChange } from "../../config/compare.ts";
import type { Config } from "../../config/config.ts";
import { CONFIG_FILE, configWithoutAgents, loadConfig } from "../../config/load.ts";
import { type Pin, readPin } from "../../config/pin.ts";
import { messageOf, PrloomError } from "../../kernel/errors.ts";
import type { Environment } from "../../kernel/system/environment.ts";
import type { Reporting } from "../capabilities.ts";
import { offerOf, PROMPTS_DIR, pinnedConfig, type Tree, type TreeOffer, treeKey } from "./pinning.ts";

/** What a repository is worked on with: from the pin, or where there is none from the working tree. */
export interface Settings {
  readonly config: Config;
  readonly pin?: Pin;
  /** Why there is no config that can be used; what needs one throws this. */
  readonly problem?: PrloomError;
}

/** What counts here: the pin, else the working tree, as it would be at a first start. */
export function settingsInForce(pinFile: string, root: string): Settings {
  try {
    const pin = readPin(pinFile);
    return pin ? { config: pinnedConfig(pin), pin } : { config: loadConfig(root) };
  } catch (error) {
    if (!(error instanceof PrloomError)) throw error;
    return { config: configWithoutAgents(), problem: error };
  }
}

/** The settings that a dispatcher works with, and what changed in the working tree since. */
export interface Pinned {
  readonly config: Config;
  readonly pin: Pin | undefined;
  /** Why there is no config; only for those who can do without. */
  readonly problem: PrloomError | undefined;
  /** The repository's own prompt of this name. */
  prompt(name: string): string | undefined;
  take(pin: Pin, config: Config): void;
  /** Looks at the working tree; returns what is new to tell about it. */
  look(): { level: "info" | "warn" | "bad"; text: string } | undefined;
}

/** What the repository is worked on with, and as whom. */
export interface Configured {
  /** As it was pinned; not what the working tree says. */
  readonly config: Config;
  readonly pinned: Pinned;
  /** Git author and committer; empty when the user has an identity. */
  readonly identity: Readonly<Record<string, string>>;
  /** Who signs commits off: the user as git knows them. */
  readonly signer?: string | undefined;
  /** The parent environment that agents get a part of. */
  readonly environment: Environment;
}

/** Tells, once, what would change if the working tree were applied. */
export function lookAtTree({ pinned, report }: Pick<Configured, "pinned"> & Reporting): void {
  const told = pinned.look();
  if (told) report(told);
}

export function holdSettings(tree: Tree, initial: Settings): Pinned {
  let { config, pin } = initial;
  let key: string | undefined;
  let told = "";
  const tell = (text: string, level: "info" | "warn" | "bad") => {
    if (text === told) return undefined;
    const isBack = text === "";
    told = text;
    return isBack ? { level, text: "what is checked out is again what the dispatcher works with" } : { level, text };
  };
  return {
    get config() {
      return config;
    },
    get pin() {
      return pin;
    },
    problem: initial.problem,
    prompt: (name) => pin?.files.find(({ path }) => path === `${PROMPTS_DIR}/${name}.md`)?.text,
    take(nextPin, nextConfig) {
      pin = nextPin;
      config = nextConfig;
      key = undefined;
      told = "";
    },
    look() {
      if (!pin) return undefined;
      try {
        const current = treeKey(pin, tree.root);
        if (current === key) return undefined;
        key = current;
        const offer = offerOf(pin, tree);
        return offer.changes.length === 0 ? tell("", "info") : tell(offerLine(offer, true), "warn");
      } catch (error) {
        return tell(`${CONFIG_FILE} changed and is not used: ${messageOf(error)}`, "bad");
      }
    },
  };
}

const MAX_CHANGES = 5;

/** Changes in one line, what loosens first. */
export function changesLine(changes: readonly ConfigChange[]): string {
  const sorted = [...changes].sort((one, other) => Number(other.loosens) - Number(one.loosens));
  const named = sorted.slice(0, MAX_CHANGES).map(inBrief);
  const rest = changes.length - named.length;
  return `${named.join("; ")}${rest > 0 ? `; and ${rest} more` : ""}`;
}

const MAX_VALUE = 100;

/** Long values from where they differ, and how much of them is left out. */
function inBrief({ key, from, to }: ConfigChange): string {
  let same = 0;
  while (same < from.length && from[same] === to[same]) same += 1;
  const brief = (value: string): string => {
    if (value.length <= MAX_VALUE) return value;
    const start = Math.max(0, same - 10);
    const rest = value.length - start - MAX_VALUE;
    const more = rest > 0 ? `… (${rest} more characters)` : "";
    return `${start > 0 ? "…" : ""}${value.slice(start, start + MAX_VALUE)}${more}`;
  };
  return `${key}: ${brief(from)} → ${brief(to)}`;
}

/** What differs, and what to type to apply it. */
export function offerLine(
  { changes, needsStart }: Pick<TreeOffer, "changes" | "needsStart">,
  running: boolean,
): string {
  if (!running)
    return `what is checked out differs from the last start: ${changesLine(changes)}. \`prloom start\` applies it`;
  const command = needsStart ? "`prloom stop`, then `prloom start`," : "`prloom reload`";
  return `what is checked out differs from what the dispatcher works with: ${changesLine(changes)}. ${command} applies it`;
}
