import type { Behaviour } from "../../call.ts";
import { isIn } from "../../normal-path.ts";
import { type Arguments, readArguments } from "../../options.ts";
import {
  absolutePaths,
  inFolder,
  noteSecretOperands,
  noteSecrets,
  reads,
  store,
  unpacksInto,
  worksHere,
  writes,
} from "../../paths.ts";
import { noteEffect, type Spot } from "../../state/state.ts";
import { cameFrom, type Flow, FROM, OUTPUT } from "../../values/flow.ts";
import { describeText, known, startOf, type Text, textOf } from "../../values/text.ts";
import { takeSecrets } from "../../values/variables.ts";
import { noteElsewhere } from "../builds.ts";
import { noteOutputs } from "../outputs.ts";
import { runsRules } from "../recipes.ts";
import { HARMS_ELSEWHERE } from "./machines.ts";

const LOOKS_AT_CONTAINERS =
  /^(?:|ls|list|ps|images|image|logs|inspect|version|info|search|history|top|stats|port|diff|events|network|help)$/;
/** `docker volume ls` and its like. */
const LOOKS_AT_GROUP =
  /^(?:volume|system|context|manifest|plugin|node|service|stack) (?:ls|list|inspect|show|df|info|ps|logs)$/;
const CHANGES_CONTAINERS =
  /^(?:system|volume|builder|rm|rmi|kill|stop|push|publish|login|swarm|service|stack|secret|plugin|trust|load|import|save|export|cp|commit|update|rename|prune|context)$/;
const SENDS = /^(?:push|publish|login)$/;

/** Options with a value: one that were missing would hide those behind it. */
const GLOBAL_VALUED = "H host c context config l log-level tlscacert tlscert tlskey url connection root runroot";
const COMPOSE_VALUED =
  "f file p project-name profile env-file project-directory parallel ansi progress H host c context";
const CONTAINER_VALUED =
  "a attach add-host annotation blkio-weight blkio-weight-device c cap-add cap-drop cgroup-conf cgroup-parent cgroupns cgroups chrootdirs cidfile conmon-pidfile cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares cpus cpuset-cpus cpuset-mems creds d-keys decryption-key detach-keys device device-cgroup-rule device-read-bps device-read-iops device-write-bps device-write-iops dns dns-opt dns-option dns-search domainname e entrypoint env env-file env-from-file env-merge expose gidmap gpus group-add group-entry h health-cmd health-interval health-retries health-start-interval health-start-period health-timeout hostname hostuser image-volume index init-path ip ip6 ipc isolation kernel-memory l label label-file link link-local-ip log-driver log-opt m mac-address memory memory-reservation memory-swap memory-swappiness mount name net network network-alias oom-score-adj p passwd-entry personality pid pidfile pids-limit platform pod pod-id-file publish pull requires restart retry retry-delay rootfs-propagation runtime scale sdnotify seccomp-policy secret security-opt shm-size shm-size-systemd stop-signal stop-timeout storage-opt subgidname subuidname sysctl systemd timeout tmpfs tz u uidmap ulimit umask unsetenv user userns uts v variant volume volume-driver volumes-from w workdir";

/** Containers: building and looking is ordinary work; a container that has the machine is not. */
export const container: Behaviour = ({ name, args, spot }) => {
  const isCompose = name.endsWith("-compose");
  const given = readArguments(args, { valued: isCompose ? COMPOSE_VALUED : GLOBAL_VALUED, stopsAtOperand: true });
  const [first, ...behind] = given.operands;
  if (
    given.values("H", "host", "url").length > 0 ||
    given.values("c", "context").some((one) => textOf(one) !== "default")
  )
    noteEffect(spot, { kind: "sends", what: `${name} works on another machine` });
  if (!isCompose && textOf(first ?? known("")) === "compose")
    return container({ name: `${name}-compose`, args: behind, spot });
  const inside = inFolder(spot, given.values("project-directory"));
  // It names programs that docker asks for passwords.
  for (const folder of given.values("config")) noteElsewhere(folder, spot);
  // `docker container rm` is like `docker rm`.
  const isGroup = /^(?:container|buildx|image (?:push|build|save|load|import))\b/.test(
    given.operands.slice(0, 2).map(textOf).join(" "),
  );
  const [sub = known(""), ...rest] = isGroup ? behind : given.operands;
  const word = textOf(sub);
  // The compose file takes what it names of `.env` by itself.
  noteSecrets(
    given.values("env-file").filter((file) => !/(?:^|\/)\.env[^/]*$/.test(textOf(file))),
    spot,
  );
  if (isCompose && !LOOKS_AT_CONTAINERS.test(word))
    for (const file of given.values("f", "file")) {
      runsRules(file, { name, args, spot: inside });
      noteFetched(file, `${name} ${word}`, spot);
    }
  if (isCompose && word === "config" && !rest.some((one) => LISTS_NAMES.test(textOf(one)))) showsSettings(inside);
  return containerCommand({ name, word, rest, spot: inside });
};

/** Out of a container, something comes as from another machine. */
function copiesOut(args: readonly Text[], spot: Spot): boolean {
  const [from, to, ...more] = readArguments(args, { valued: "index" }).operands;
  const isInside = (path: Text): boolean => /^[\w-][\w.-]*:/.test(startOf(path));
  if (!from || !to || more.length > 0 || !isInside(from) || isInside(to)) return false;
  noteEffect(spot, { kind: "fetches", what: `copies ${describeText(from)}` });
  spot.line.unpacked = cameFrom(FROM.network);
  store(to, spot.line.unpacked, { spot });
  unpacksInto(spot, to, true);
  return true;
}

/** Options with which `compose config` prints no values. */
const LISTS_NAMES = /^(?:-q|--(?:quiet|services|images|volumes|networks|profiles|hash(?:=.*)?|no-interpolate|help))$/;

/** It prints what the compose file takes of `.env`. */
function showsSettings(spot: Spot): void {
  const isThere = absolutePaths(known(".env"), spot).some((path) => spot.line.place.look(textOf(path)) === "file");
  if (isThere) reads(spot, known(".env"));
}

const FETCHED = /^(?:[a-z+]+:\/\/|git@|github\.com\/)/i;

function noteFetched(source: Text, what: string, spot: Spot): void {
  if (FETCHED.test(startOf(source)))
    noteEffect(spot, { kind: "code", what: `${what} runs what it fetches from ${describeText(source)}` });
}

interface ContainerCall {
  readonly name: string;
  readonly word: string;
  readonly rest: readonly Text[];
  readonly spot: Spot;
}

function containerCommand({ name, word, rest, spot }: ContainerCall): Flow {
  const first = textOf(rest[0] ?? known(""));
  if (LOOKS_AT_CONTAINERS.test(word) && !rest.some((one) => HARMS_ELSEWHERE.test(textOf(one)))) return OUTPUT;
  if (LOOKS_AT_GROUP.test(`${word} ${first}`)) return OUTPUT;
  if (/^(?:image|network)$/.test(word) && first === "prune")
    noteEffect(spot, { kind: "system", what: `deletes what containers are made of with ${name} ${word}` });
  if (word === "down" && rest.some((one) => /^(?:-v|--volumes|--rmi)/.test(textOf(one))))
    noteEffect(spot, { kind: "system", what: `deletes data of containers with ${name} down` });
  // Its own rights, with which files of others can be changed.
  if (word === "unshare") return spot.line.engine.runWords([known(word), ...rest], spot);
  if (word === "run" || word === "exec" || word === "create") return startContainer(rest, spot);
  if (word === "cp" && copiesOut(rest, spot)) return OUTPUT;
  // Those of the project, as with `down`.
  const areOwn = name.endsWith("compose") && /^(?:stop|kill)$/.test(word);
  if (!areOwn && CHANGES_CONTAINERS.test(word) && !/^(?:ls|inspect)$/.test(first)) {
    noteEffect(
      spot,
      SENDS.test(word)
        ? { kind: "sends", what: `${name} ${word} reaches another machine` }
        : {
            kind: "system",
            what: `changes containers of this machine with ${name} ${word}`,
            instead:
              "Start it with docker compose, which `docker compose down` ends, or with `timeout` and `docker run --rm`.",
          },
    );
    return OUTPUT;
  }
  if (rest.some((one) => /^--push(?:=true)?$|^(?:--output=|-o)?type=(?:registry|image,.*push=true)/.test(textOf(one))))
    noteEffect(spot, { kind: "sends", what: `${name} ${word} pushes what it builds to another machine` });
  noteOutputs(name, rest, spot);
  noteGiven(readArguments(rest, { valued: `f file t tag ${GIVES}` }), spot);
  if (/^(?:play|kube)$/.test(word)) for (const one of rest) noteElsewhere(one, spot);
  // Of what lies elsewhere a build takes everything into its image, and runs what its file says.
  noteSecretOperands(rest, spot);
  if (/^(?:build|bake|bud)$/.test(word))
    for (const one of rest) {
      noteElsewhere(one, spot);
      noteFetched(one, `${name} ${word}`, spot);
    }
  worksHere(spot, `runs ${name} ${word}`);
  return OUTPUT;
}

/** Options by which a build or a container is given files of this machine. */
const GIVES = "secret ssh build-context set v volume mount env-file env-from-file";

/** Secrets among them are read by what is in an image, which may be anyone's. */
function noteGiven(given: Arguments, spot: Spot): void {
  for (const value of given.values(...GIVES.split(" ")))
    noteSecrets(
      textOf(value)
        .split(/[=,:"]/)
        .filter(Boolean)
        .map(known),
      spot,
    );
}

function startContainer(args: readonly Text[], spot: Spot): Flow {
  const given = readArguments(args, { valued: CONTAINER_VALUED, stopsAtOperand: true });
  const [image, ...words] = given.operands;
  const shown = describeText(image ?? known("?"));
  const sharesMachine =
    given.has("privileged", "cap-add", "device", "security-opt", "userns", "volumes-from") ||
    given.values("pid", "ipc", "uts", "network", "net").some((value) => /^(?:host|container:)/.test(textOf(value)));
  if (sharesMachine || given.values("v", "volume", "mount").some((mount) => !isOwnMount(mount, spot)))
    noteEffect(spot, {
      kind: "privilege",
      what: `starts a container that has more of the machine than the worktree: ${shown}`,
    });
  for (const mount of given.values("v", "volume", "mount")) {
    const source = mountedFrom(textOf(mount));
    if (source !== undefined && !/[:,](?:ro|readonly)\b/.test(textOf(mount))) changesMounted(source, spot);
  }
  noteOutputs("docker", args.slice(0, args.length - given.operands.length), spot);
  noteEffect(spot, { kind: "runs", what: `runs a container: ${shown}` });
  for (const file of given.values("env-file")) takeSecrets(file, spot);
  noteGiven(given, spot);
  for (const program of given.values("entrypoint")) spot.line.engine.runWords([program, ...words], spot);
  const flow = words.length > 0 ? spot.line.engine.runWords(words, spot) : OUTPUT;
  // Its files are those of the image, which anyone may have made.
  return flow.from & FROM.files ? cameFrom(flow.from | FROM.network) : flow;
}

/** The folder of this machine that a mount names; undefined for a volume that has a name. */
function mountedFrom(mount: string): string | undefined {
  const [, named] = /(?:^|,)(?:source|src)=([^,]*)/.exec(mount) ?? [];
  if (/^type=(?:volume|tmpfs)\b/.test(mount)) return undefined;
  const source = named ?? mount.split(":")[0] ?? "";
  return named === undefined && /^[\w-]+$/.test(source) ? undefined : source;
}

/** A named volume, or a folder of the worktree. */
function isOwnMount(mount: Text, spot: Spot): boolean {
  if (mount.type !== "known") return false;
  const source = mountedFrom(mount.text);
  if (source === undefined) return true;
  const { folder } = spot.line.place;
  return absolutePaths(known(source), spot).every((path) => path.type === "known" && isIn(path.text, folder));
}

/** What runs inside may change it. The worktree as a whole is what containers for builds have. */
function changesMounted(source: string, spot: Spot): void {
  const isRoot = absolutePaths(known(source), spot).every((path) => textOf(path) === spot.line.place.folder);
  if (!isRoot) writes(spot, known(source));
}
