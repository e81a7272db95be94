import { endsByName } from "../builtins.ts";
import type { Behaviour } from "../call.ts";
import { cameFrom, changed, FROM, OUTPUT } from "../flow.ts";
import { readArguments } from "../options.ts";
import { contentOf, store } from "../paths.ts";
import { AGENTS, agent, prloom } from "./agents.ts";
import { tar, unzip, zip } from "./archives.ts";
import { builds, cargo, forge, installs, linter, make, packages } from "./builds.ts";
import { awk, editor, patch, sed } from "./editors.ts";
import { changeRights, compress, copy, create, dd, link, move, reader, remove, split, tee } from "./files.ts";
import { git } from "./git/git.ts";
import { administers, container, database, elsewhere, harms, schedules, strip } from "./machines.ts";
import { asks, curl, http, netcat, rsync, scp, sends, socat, ssh, wget } from "./network.ts";
import { bun, runsTool } from "./shells.ts";
import { elevates, env, fd, find, lineWrapper, lists, parallel, wrapper, xargs } from "./wrappers.ts";

const prints: Behaviour = () => OUTPUT;

/** base64, xxd and their like: what they decode is not what was read. */
const decodes =
  (flags: readonly string[], valued = ""): Behaviour =>
  ({ args, spot }) => {
    const given = readArguments(args, { valued, long: "decode wrap" });
    const [file, target] = given.operands;
    const flow = file ? contentOf(file, spot) : spot.input;
    const made = given.has(...flags) ? cameFrom(flow.from | FROM.decoded) : changed(flow);
    if (target) store(target, made, { spot });
    return made;
  };

const openssl: Behaviour = ({ args, spot }) => {
  const given = readArguments(args, { valued: "in out k K pass iv key inkey CAfile connect", singleDash: true });
  const flows = given.values("in").map((file) => contentOf(file, spot));
  const from = (flows[0] ?? spot.input).from;
  const made = cameFrom(given.has("d", "decrypt") ? from | FROM.decoded : from | FROM.program);
  for (const file of given.values("out")) store(file, made, { spot });
  if (given.values("connect").length > 0) return asks({ name: "openssl", args, spot });
  return made;
};

const grep = reader({
  rules: {
    valued:
      "e regexp f file m max-count A B C context color include exclude exclude-dir include-dir d D label g glob t type T type-not j threads M max-columns r replace sort E encoding max-depth iglob after-context before-context",
  },
  skip: 1,
  unless: ["e", "regexp", "f", "file"],
});

/** With `-l` grep prints names, which others then work on. */
const search: Behaviour = (call) => {
  const flow = grep(call);
  const isNames = call.args.some(
    (arg) =>
      arg.type === "known" &&
      /^(?:-[a-zA-Z]*[lL][a-zA-Z]*|--files-with-matches|--files-without-match|--files|-0l|--null)$/.test(arg.text),
  );
  if (!isNames) return flow;
  return lists({ valued: "e f g glob t type include exclude exclude-dir A B C m" }, 1)(call);
};

const sort = reader({
  rules: {
    valued:
      "o output k key t field-separator S buffer-size T temporary-directory compress-program parallel batch-size files0-from random-source sort",
    long: "reverse numeric-sort unique check merge stable",
  },
  writes: ["o", "output"],
});

const sorting: Behaviour = (call) => {
  const given = readArguments(call.args, { valued: "compress-program" });
  for (const program of given.values("compress-program")) call.spot.line.engine.runSource(program, call.spot);
  return sort(call);
};

/** `uniq in out` writes its second operand. */
const uniq: Behaviour = ({ args, spot }) => {
  const { operands } = readArguments(args, { valued: "f s w skip-fields skip-chars check-chars" });
  const [source, target] = operands;
  const flow = source ? contentOf(source, spot) : spot.input;
  if (target) store(target, changed(flow), { spot });
  return changed(flow);
};

const yq: Behaviour = (call) => {
  const inPlace = call.args.some(
    (arg) => arg.type === "known" && /^(?:-[a-zA-Z]*i[a-zA-Z]*|--inplace|--in-place)$/.test(arg.text),
  );
  const given = readArguments(call.args, {
    valued: "p input-format o output-format I indent from-file s split-exp arg argjson slurpfile rawfile",
  });
  const [, ...files] = given.operands;
  const flow = reader({ rules: {}, skip: 1 })(call);
  if (inPlace) for (const file of files) store(file, flow, { spot: call.spot });
  return flow;
};

const names = (list: string, behaviour: Behaviour): [string, Behaviour][] =>
  list.split(" ").map((name) => [name, behaviour]);

export const PROGRAMS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ...names(
    "cat tac bat batcat zcat gzcat xzcat bzcat zstdcat",
    reader({ copies: true, rules: { valued: "l language r line-range style theme H" } }),
  ),
  ...names("head tail", reader({ copies: false, rules: { valued: "n c lines bytes s pid" } })),
  ...names(
    "nl wc cut tr fold fmt pr column paste join comm diff sdiff colordiff cmp md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum od hexdump hd strings nm objdump readelf ldd size file rev expand unexpand less more most jless look tsort shellcheck hadolint yamllint ccze pygmentize glow mdcat cloc tokei scc loc wdiff numfmt identify ffprobe",
    reader({ rules: { valued: "n c f d w l b t j k s D u" } }),
  ),
  ...names("ls dir vdir exa eza lsd tree", lists({ valued: "I ignore P L w color sort time" }, 0)),
  ...names(
    "stat du df readlink realpath basename dirname namei lsattr getfacl lsof lsblk pathchk mountpoint findmnt",
    prints,
  ),
  ...names(
    "date cal uptime uname hostname whoami id groups who w users tty arch nproc free vmstat iostat lscpu lsusb lspci ps pgrep pidof top htop locale printenv seq yes sleep expr factor bc dc clear tput reset stty man info apropos whatis tldr true false jobs logname getconf sw_vers cpuid lsmod dmesg journalctl last nvidia-smi getent envsubst gettext tic infocmp stopwatch uuidgen mktemp ulid ascii units banner figlet cowsay fortune",
    prints,
  ),
  ...names("grep egrep fgrep zgrep rg ag ack ripgrep ugrep", search),
  ...names(
    "jq gojq jaq fx xmllint xq tomlq hq dasel gron",
    reader({ rules: { valued: "arg argjson slurpfile rawfile indent L from-file f xpath" }, skip: 1 }),
  ),
  ["yq", yq],
  ...names("sort gsort", sorting),
  ["uniq", uniq],
  ["shuf", reader({ rules: { valued: "i n o r input-range head-count output" }, writes: ["o", "output"] })],
  ["iconv", reader({ rules: { valued: "f t o from-code to-code output" }, writes: ["o", "output"] })],
  ["base64", decodes(["d", "D", "decode"], "w wrap b i o break")],
  ...names("base32 basenc uudecode gbase64", decodes(["d", "decode", "D"], "w wrap")),
  ["xxd", decodes(["r"], "c cols g groupsize l len s seek o n name")],
  ["openssl", openssl],
  ...names("gpg gpg2 age", decodes(["d", "decrypt"], "o output u r")),
  ...names("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma unlzma compress uncompress lz4 brotli pigz", compress),
  ...names("tar gtar bsdtar", tar),
  ...names("zip 7z 7za rar", zip),
  ...names("unzip unrar bsdcpio cpio ar", unzip),
  ...names("tee sponge", tee),
  ...names("rm unlink rmdir trash trash-put srm gio-trash rimraf del-cli", remove),
  ...names("shred wipe", remove),
  ...names("touch mkdir mkfifo mknod truncate fallocate", create),
  ...names("cp install gcp ditto", copy),
  ...names("mv gmv", move),
  ...names("ln link symlink", link),
  ...names("chmod chown chgrp chattr setfacl chcon", changeRights),
  ["dd", dd],
  ...names("split csplit", split),
  ...names("sed gsed", sed),
  ...names("awk gawk mawk nawk goawk", awk),
  ...names("vim vi nvim view ex ed emacs nano micro pico joe code subl", editor),
  ["patch", patch],
  ["git", git],
  ...names("strip objcopy", strip),
  ["curl", curl],
  ...names("wget wget2", wget),
  ...names("http https xh httpie", http),
  ...names("nc ncat netcat nc.openbsd nc.traditional", netcat),
  ["socat", socat],
  ...names("ssh autossh mosh", ssh),
  ...names("scp sftp", scp),
  ["rsync", rsync],
  ...names("dig nslookup host ping ping6 traceroute tracepath mtr whois resolvectl drill kdig", asks),
  ...names(
    "mail mailx sendmail mutt msmtp swaks telnet ftp lftp tftp rcp rlogin rsh rclone magic-wormhole wormhole croc ngrok cloudflared localtunnel lt bore tailscale slack-cli aria2c axel",
    sends,
  ),
  ["find", find],
  ...names("fd fdfind", fd),
  ...names("xargs gxargs", xargs),
  ["parallel", parallel],
  ["env", env],
  ["genv", env],
  ...names(
    "nice ionice chrt taskset stdbuf setsid nohup time gtime timeout catchsegv eatmydata unbuffer softlimit setarch linux32 linux64 caffeinate torsocks proxychains proxychains4 firejail bwrap chpst numactl catatonit tini dumb-init fakeroot proot wait-for-it strace ltrace valgrind perf rr heaptrack ts chronic ifne mispipe pee systemd-cat",
    wrapper({
      valued: "n c p k s signal kill-after o output e i f format a u tool log-file S O P E adjustment classdata",
    }),
  ),
  ...names(
    "timeout gtimeout faketime cpulimit flock",
    wrapper({ valued: "k s signal kill-after l p e i w wait E conflict-exit-code f" }, 1),
  ),
  ...names(
    "unshare nsenter chroot",
    elevates({ valued: "t target S setuid G setgid R root w wd groups userspec map-user map-group" }),
  ),
  ...names(
    "sudo doas pkexec run0 su runuser gosu sg super calife machinectl",
    elevates({ valued: "u user g group h host p prompt C c command D chdir R chroot r role t type T s shell U" }),
  ),
  ...names(
    "systemd-run",
    wrapper({
      valued: "u unit p property E setenv uid gid nice working-directory M H on-calendar on-active slice",
    }),
  ),
  ...names("watch", lineWrapper({ valued: "n interval", stopsAtOperand: true })),
  ...names(
    "tmux screen dtach abduco script expect dbus-run-session xvfb-run entr hyperfine watchexec reflex",
    lineWrapper({ valued: "s S L f c n t x y F e p m M w r warmup runs shell prepare i o", stopsAtOperand: false }),
  ),
  ...names("busybox toybox", wrapper({})),
  ...names("at batch crontab anacron launchctl schtasks", schedules),
  ...names(
    "mkfs fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard mkswap swapoff swapon lvremove lvreduce lvcreate lvm vgremove vgreduce pvremove pvcreate zpool zfs mdadm cryptsetup hdparm badblocks fsck tune2fs resize2fs dmsetup losetup partprobe shutdown reboot halt poweroff init telinit kexec format diskutil btrfs debugfs",
    harms,
  ),
  ...names(
    "systemctl service rc-service mount umount modprobe insmod rmmod sysctl useradd userdel usermod groupadd groupdel passwd chpasswd chsh visudo vipw setcap iptables ip6tables nft ufw firewall-cmd update-alternatives dpkg-reconfigure timedatectl hostnamectl localectl loginctl setenforce semanage apparmor_parser aa-disable auditctl swapctl apt apt-get dpkg yum dnf rpm pacman apk zypper snap flatpak brew port nix-env emerge defaults scutil dscl",
    administers,
  ),
  ...names("killall pkill killall5 skill", endsByName),
  ...names(
    "psql mysql mariadb sqlite3 mongo mongosh redis-cli cqlsh clickhouse-client duckdb sqlcmd dropdb dropuser mysqladmin cockroach usql pgcli mycli",
    database,
  ),
  ...names(
    "aws gcloud az kubectl oc helm terraform tofu terragrunt pulumi heroku flyctl fly vercel netlify wrangler firebase eksctl doctl linode-cli ibmcloud oci serverless sls cdk sam ansible ansible-playbook vault consul nomad argocd flux istioctl gsutil s3cmd bq railway supabase stripe doppler op bw pass",
    elsewhere,
  ),
  ...names("docker podman nerdctl docker-compose podman-compose buildah", container),
  ...names("gh glab hub tea twine jira linear", forge),
  ...names("npm pnpm yarn cnpm", packages),
  ...names("npx bunx pnpx uvx pipx", runsTool),
  [
    "uv",
    (call) =>
      call.args[0]?.type === "known" && call.args[0].text === "run"
        ? runsTool({ ...call, args: call.args.slice(1) })
        : installs(call),
  ],
  ...names(
    "poetry pipenv pdm rye hatch bundle conda mamba micromamba nix devbox mise asdf rtx dotenv dotenvx direnv volta fnm corepack",
    (call) => {
      const [first] = call.args;
      return first?.type === "known" && /^(?:run|exec|x)$/.test(first.text)
        ? runsTool({ ...call, args: call.args.slice(1).filter((arg) => arg.type !== "known" || arg.text !== "--") })
        : builds(call);
    },
  ),
  ...names("pip pip3 gem easy_install", installs),
  ["cargo", cargo],
  ...names("make gmake ninja", make),
  ["bun", bun],
  ["deno", bun],
  ["black", linter(/^--(?:check|diff|version|help)$/, /(?!)/)],
  ["isort", linter(/^(?:--check-only|--check|-c|--diff|--version|--help)$/, /(?!)/)],
  [
    "ruff",
    linter(
      /^(?:check|lint|rule|linter|version|help|-h|--help|--version|config|--show-fixes)$/,
      /^(?:--fix|--unsafe-fixes|format|--add-noqa|clean)$/,
    ),
  ],
  ...names("prloom", prloom),
  ...AGENTS.map((name): [string, Behaviour] => [name, agent]),
]);
