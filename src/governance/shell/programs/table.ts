import type { Behaviour } from "../call.ts";
import { endsByName, findsProcesses, fuser } from "../processes.ts";
import { OUTPUT } from "../values/flow.ts";
import { folderPart, lastPart } from "../values/renamed.ts";
import { showVariables } from "../values/variables.ts";
import { administersUnless, date, direnv, opensElsewhere, scalar } from "./administering.ts";
import { AGENTS, agent, prloom } from "./agents.ts";
import { builds, linter } from "./builds.ts";
import { bun } from "./bun.ts";
import { container } from "./elsewhere/containers.ts";
import { database } from "./elsewhere/databases.ts";
import { gpg, readsKeys, sshKeygen } from "./elsewhere/keys.ts";
import { administers, elsewhere, harms, schedules, strip } from "./elsewhere/machines.ts";
import { asks, curl, http, netcat, sends, socat, wget } from "./elsewhere/network.ts";
import { rsync, scp, ssh } from "./elsewhere/remote.ts";
import { ar, cpio, sevenZip, tar, unzip, zip } from "./files/archives.ts";
import { copy, link, move } from "./files/copying.ts";
import { applyPatch, awk, editor, m4, opensWindow, patch, sed } from "./files/editors.ts";
import { changeRights, compress, create, dd, mktemp, reader, remove, split, tee } from "./files/files.ts";
import { fd, find, lists, partOfName } from "./files/finding.ts";
import { oneWord, shuf, tr } from "./files/plain-words.ts";
import {
  ACK,
  bat,
  cut,
  dc,
  decodes,
  GREP,
  jq,
  man,
  openssl,
  pager,
  printsUnless,
  ps,
  RIPGREP,
  search,
  seq,
  sorting,
  tree,
  uniq,
  yq,
} from "./files/readers.ts";
import { changesOperands, renames, writesAll } from "./files/renaming.ts";
import { judgeGit } from "./git/git.ts";
import { cargo, forge, installs, packages, startsBehind, uv } from "./packages.ts";
import { pythonRunner } from "./python-modules.ts";
import { cmake, just, make } from "./recipes.ts";
import { runsOrCarries, runsTool } from "./shells.ts";
import {
  carrier,
  debugs,
  elevates,
  env,
  fzf,
  lineWrapper,
  locks,
  measurer,
  outlives,
  recorder,
  wrapper,
} from "./wrappers.ts";
import { parallel, xargs } from "./xargs.ts";

/** Compilers, test runners, linters and their like: words among their arguments are not commands. */
const BUILDERS =
  "tsc eslint prettier biome oxlint stylelint vitest jest mocha ava tap c8 nyc playwright cypress webpack vite rollup esbuild parcel turbo tsup swc babel svelte-check vue-tsc next nuxt astro ng changeset storybook typedoc knip depcheck unittest 2to3 autopep8 yapf pyupgrade autoflake docformatter reorder-python-imports pytest py.test tox nox mypy pyright flake8 pylint bandit pre-commit sphinx-build mkdocs alembic django-admin gunicorn uvicorn flask celery go goimports golangci-lint staticcheck rustc rustfmt wasm-pack gcc g++ cc c++ clang clang++ clang-format clang-tidy ld as ctest cpack meson bazel bazelisk buck2 gradle gradlew mvn mvnw ant javac java kotlinc scalac sbt dotnet msbuild nuget rspec rubocop rails rake spring erb standardrb phpunit phpstan psalm pint pest artisan mix rebar3 swift clojure clj lein swiftc xcodebuild swiftlint swift-format pod flutter dart zig stack cabal hlint ormolu opam dune protoc buf openapi-generator pdflatex latexmk xelatex latex lualatex run-parts pandoc dot mmdc task shfmt actionlint markdownlint vale typos codespell lychee act xsltproc convert magick ffmpeg wkhtmltopdf wkhtmltoimage rsvg-convert cwebp wasmtime wasmer stylua swiftformat mdformat php-cs-fixer ktlint dprint taplo".split(
    " ",
  );

const prints: Behaviour = () => OUTPUT;

const names = (list: string | readonly string[], behaviour: Behaviour): [string, Behaviour][] =>
  (typeof list === "string" ? list.split(" ") : list).map((name) => [name, behaviour]);

export const PROGRAMS: ReadonlyMap<string, Behaviour> = new Map<string, Behaviour>([
  ...names("cat tac", reader({ copies: true })),
  ...names("bat batcat", bat),
  ...names(
    "head tail",
    reader({ rules: { valued: "n c lines bytes s pid" }, keeps: (given) => !given.has("c", "bytes") }),
  ),
  ...names(
    "nl wc fold fmt pr column paste join comm diff colordiff cmp md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum od hexdump hd strings nm objdump readelf size rev expand unexpand zipinfo hexyl otool most jless look tsort shellcheck hadolint yamllint ccze glow mdcat tokei loc wdiff numfmt identify ffprobe gron",
    reader({ rules: { valued: "n c f d w l b t j k s D u" } }),
  ),
  ...names(
    "sdiff diffstat pygmentize cloc scc xmllint",
    reader({
      rules: { valued: "o output out report-file f l w c s O x" },
      writes: ["o", "output", "out", "report-file"],
    }),
  ),
  ["file", printsUnless(/^(?:-C|--compile)$/, reader({ rules: { valued: "m magic-file f files-from F P e" } }))],
  ["date", date],
  ["hostname", administersUnless(/^[^-]|^-[bF]/)],
  ["ip", administersUnless(/^(?:set|add|del|delete|flush|change|replace|append|exec|-b|-batch)$/)],
  ["ifconfig", administersUnless(/^(?:up|down|add|del|netmask|mtu|hw|promisc|-?arp|[\d.:].*)$/)],
  ["route", administersUnless(/^(?:add|del|delete|flush|change)$/)],
  ["nmcli", administersUnless(/^(?:up|down|add|del|delete|modify|connect|disconnect|on|off|edit|set|reload|import)$/)],
  ["ss", administersUnless(/^(?:-(?![^K]*$)[a-zA-Z]+|--kill)$/)],
  ["netstat", prints],
  ["gsettings", administersUnless(/^(?:set|reset|reset-recursively)$/)],
  ["dconf", administersUnless(/^(?:write|reset|load|update)$/)],
  ["xdg-settings", administersUnless(/^set$/)],
  ["xdg-mime", administersUnless(/^(?:default|install|uninstall)$/)],
  ["busctl", administersUnless(/^(?:call|set-property|emit)$/)],
  ...names("open xdg-open wslview sensible-browser x-www-browser gnome-open", opensElsewhere),
  ...names("rename prename file-rename mmv", renames),
  ...names("setfattr xattr dos2unix unix2dos mac2unix unix2mac ranlib", writesAll),
  ...names("sd rpl crudini xmlstarlet gio comby ast-grep sg jscodeshift fastmod codemod ruplacer", changesOperands),
  ["m4", m4],
  ["fzf", fzf],
  ["dmesg", printsUnless(/^(?:-[CcDEn]|--clear|--read-clear|--console.*)$/)],
  ["journalctl", printsUnless(/^--(?:vacuum|rotate|flush|sync|relinquish|update)/)],
  ["tree", printsUnless(/^-o/, tree)],
  ...names("ls dir vdir exa eza lsd", lists({ valued: "I ignore P L w color sort time" })),
  ...names("stat du df readlink realpath namei lsattr getfacl lsof lsblk pathchk mountpoint findmnt", prints),
  ...names(
    "cal uptime whoami id groups who w users tty free vmstat iostat lscpu lsusb lspci top htop locale yes sleep expr factor bc clear tput reset stty apropos whatis tldr true false jobs logname getconf sw_vers cpuid lsmod last nvidia-smi pstree lsb_release mpstat getent envsubst gettext infocmp stopwatch uuidgen ulid ascii units banner figlet cowsay fortune notify-send say logger wall",
    prints,
  ),
  ...names("uname nproc arch", oneWord),
  ["basename", partOfName(lastPart)],
  ["dirname", partOfName(folderPart)],
  ...names("grep egrep fgrep zgrep ugrep", search(GREP)),
  ...names("ag ack", search(ACK)),
  ...names("rg ripgrep", search(RIPGREP)),
  ...names("jq gojq jaq hq", jq),
  ...names("yq tomlq xq", yq),
  ...names("less more", pager),
  ["man", man],
  ["dc", dc],
  ["seq", seq],
  ["mktemp", mktemp],
  ["ps", ps],
  ["printenv", ({ spot }) => showVariables(spot)],
  ...names("sort gsort", sorting),
  ["uniq", uniq],
  ["cut", cut],
  ["info", reader({ rules: { valued: "o output f file n node" }, writes: ["o", "output"] })],
  ["shuf", shuf],
  ["tr", tr],
  ["iconv", reader({ rules: { valued: "f t o from-code to-code output" }, writes: ["o", "output"] })],
  ["base64", decodes(["d", "D", "decode"], "w wrap b i o break")],
  ...names("base32 basenc uudecode gbase64", decodes(["d", "decode", "D"], "w wrap")),
  ["xxd", decodes(["r"], "c cols g groupsize l len s seek o n name")],
  ["openssl", openssl],
  ...names("gpg gpg2", gpg),
  ["age", decodes(["d", "decrypt"], "o output r recipient i identity")],
  ["ssh-keygen", sshKeygen],
  ...names(
    "ssh-add ssh-agent keyctl secret-tool security pass op bw lpass rbw gopass sops ansible-vault chamber keyring",
    readsKeys,
  ),
  ["ssh-copy-id", sends],
  ...names(
    "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma unlzma compress uncompress lz4 brotli pigz zcat gzcat xzcat bzcat zstdcat",
    compress,
  ),
  ...names("tar gtar bsdtar", tar),
  ...names("zip rar", zip),
  ...names("7z 7za 7zr 7zz", sevenZip),
  ...names("unzip unrar", unzip),
  ["ar", ar],
  ...names("cpio bsdcpio pax", cpio),
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
  ...names("vim vi nvim view ex ed emacs nano micro pico joe vimdiff gvim rvim rview nvimdiff kak hx helix", editor),
  ...names("code codium subl", opensWindow),
  ["patch", patch],
  ["apply_patch", applyPatch],
  ["git", judgeGit],
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
    "mail mailx sendmail mutt msmtp swaks telnet ftp lftp tftp rcp rlogin rsh smbclient rclone magic-wormhole wormhole croc ngrok cloudflared localtunnel lt bore tailscale chisel frpc frps inlets sshuttle zrok devtunnel pastebinit wgetpaste slack-cli aria2c axel",
    sends,
  ),
  ["find", find],
  ...names("fd fdfind", fd),
  ...names("xargs gxargs", xargs),
  ["parallel", parallel],
  ["env", env],
  ["genv", env],
  ...names(
    "nice ionice stdbuf setsid nohup catchsegv eatmydata unbuffer softlimit linux32 linux64 caffeinate torsocks proxychains proxychains4 firejail bwrap chpst numactl catatonit tini dumb-init fakeroot proot wait-for-it chronic ifne systemd-cat",
    wrapper({ valued: "n c p i o e t w u P adjustment class classdata input output error" }),
  ),
  ...names("valgrind heaptrack", measurer({ valued: "o output" })),
  ...names("time gtime", measurer({ valued: "f format o output" })),
  ...names("strace ltrace", measurer({ valued: "e o p s u a I O S E P X b output" })),
  ...names(
    "timeout gtimeout faketime cpulimit chrt taskset setarch",
    wrapper({ valued: "k s signal kill-after l p e i w wait E conflict-exit-code T P D" }, 1),
  ),
  ...names(
    "unshare nsenter chroot",
    elevates({ valued: "t target S setuid G setgid R root w wd groups userspec map-user map-group" }),
  ),
  ...names(
    "sudo sudoedit doas pkexec run0 su runuser gosu su-exec sg newgrp setpriv capsh super calife machinectl systemd-nspawn",
    elevates({ valued: "u user g group h host p prompt C c command D chdir R chroot r role t type T s shell U" }),
  ),
  ...names(
    "systemd-run tmux screen dtach abduco zellij byobu daemonize daemon start-stop-daemon pm2 forever supervisord supervisorctl cron crond atd",
    outlives,
  ),
  ["watch", lineWrapper({ valued: "n interval", stopsAtOperand: true })],
  ...names(
    "dbus-run-session xvfb-run entr hyperfine watchexec reflex perf rr mispipe pee concurrently nodemon chokidar npm-run-all run-p run-s cross-env dotenv dotenvx start-server-and-test foreman overmind honcho nx lerna rush",
    carrier,
  ),
  ...names("gdb lldb", debugs),
  ["flock", locks],
  ["script", recorder],
  ...names("busybox toybox arch", wrapper({})),
  ...names("at batch crontab fcrontab incrontab anacron launchctl schtasks", schedules),
  ...names(
    "mkfs fdisk sfdisk cfdisk gdisk sgdisk parted wipefs blkdiscard mkswap swapoff swapon lvremove lvreduce lvcreate lvm vgremove vgreduce pvremove pvcreate zpool zfs mdadm cryptsetup hdparm badblocks fsck tune2fs resize2fs dmsetup losetup partprobe shutdown reboot halt poweroff init telinit kexec format diskutil btrfs debugfs",
    harms,
  ),
  ...names(
    "systemctl service rc-service mount umount modprobe insmod rmmod sysctl useradd userdel usermod groupadd groupdel gpasswd passwd chpasswd chsh visudo vipw setcap iptables ip6tables nft ufw firewall-cmd update-alternatives dpkg-reconfigure timedatectl hostnamectl localectl loginctl setenforce semanage apparmor_parser aa-disable auditctl swapctl apt apt-get dpkg yum dnf rpm pacman apk zypper snap flatpak brew port nix-env emerge defaults scutil dscl dbus-send gdbus qdbus xdotool ydotool wtype",
    administers,
  ),
  ["fuser", fuser],
  ...names("pgrep pidof", findsProcesses),
  ...names("killall pkill killall5 skill", endsByName),
  ...names(
    "psql mysql mariadb sqlite3 mongo mongosh redis-cli cqlsh clickhouse-client duckdb sqlcmd dropdb dropuser mysqladmin cockroach usql pgcli mycli",
    database,
  ),
  ...names(
    "aws gcloud az kubectl oc helm terraform tofu terragrunt pulumi heroku flyctl fly vercel netlify wrangler firebase firebase-tools eksctl doctl linode-cli ibmcloud oci serverless sls cdk sam ansible ansible-playbook vault consul nomad argocd flux istioctl gsutil s3cmd bq railway supabase stripe doppler eb azd sst civo hcloud scw vultr-cli s5cmd azcopy mc",
    elsewhere,
  ),
  ...names("docker podman nerdctl docker-compose podman-compose buildah", container),
  ...names("gh glab hub tea twine jira linear", forge),
  ...names("npm pnpm yarn cnpm", packages),
  ...names("npx bunx pnpx uvx", runsTool),
  ["pipx", runsOrCarries(0)],
  ["composer", startsBehind("exec")],
  ["rustup", startsBehind("run", 1)],
  ["uv", uv],
  ...names(
    "poetry pipenv pdm rye hatch bundle conda mamba micromamba nix devbox mise asdf rtx volta fnm corepack",
    runsOrCarries(0),
  ),
  ["direnv", direnv],
  ["scalar", scalar],
  ...names(BUILDERS, builds),
  ...names("coverage scalene viztracer memray pyinstrument kernprof ipdb pdb debugpy", pythonRunner),
  ...names("pip pip3 gem easy_install", installs),
  ["cargo", cargo],
  ...names("make gmake ninja", make),
  ["cmake", cmake],
  ["just", just],
  ["bun", bun],
  ["deno", bun],
  ["gofmt", linter(/^-[lde]$/, /^-(?:w|cpuprofile)/)],
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
