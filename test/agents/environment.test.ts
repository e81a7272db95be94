import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { agentEnvironment } from "../../src/agents/environment.ts";
import { absolutePath } from "../../src/kernel/system/find-program.ts";

const none = { vars: {}, extra: {} };

test("of ours only what is on the list", () => {
  const parent = {
    PATH: "/bin",
    HOME: "/home/x",
    LC_ALL: "C.UTF-8",
    LC_API_TOKEN: "secret",
    https_proxy: "http://proxy",
    NO_PROXY: "localhost",
    XDG_CONFIG_HOME: "/c",
    XDG_RUNTIME_DIR: "/run/user/1",
    GITHUB_TOKEN: "secret",
    OPENAI_API_KEY: "secret",
    SSH_AUTH_SOCK: "/s",
    GIT_DIR: "/g",
    npm_config_x: "1",
    NODE_OPTIONS: "--inspect",
    PRLOOM_RUN_ID: "outer",
    DBUS_SESSION_BUS_ADDRESS: "unix:",
    TZ: undefined,
  };
  assert.deepEqual(agentEnvironment(parent, none), {
    PATH: "/bin",
    HOME: "/home/x",
    LC_ALL: "C.UTF-8",
    https_proxy: "http://proxy",
    NO_PROXY: "localhost",
    XDG_CONFIG_HOME: "/c",
    GIT_TERMINAL_PROMPT: "0",
  });
});

test("what the config names is passed on, never what is ours", () => {
  const parent = { API_KEY: "secret", OTHER_KEY: "secret", PRLOOM_RUN_ID: "outer", EMPTY: undefined };
  const pass = ["API_KEY", "PRLOOM_RUN_ID", "EMPTY", "ABSENT"];
  assert.deepEqual(agentEnvironment(parent, { ...none, pass }), { API_KEY: "secret", GIT_TERMINAL_PROMPT: "0" });
});

test("the agent's own settings win over ours, the run's over both", () => {
  const environment = agentEnvironment(
    { PATH: "/bin" },
    {
      vars: { PRLOOM_STAGE: "worker" },
      extra: { PATH: "/opt/bin", API_KEY: "k", PRLOOM_STAGE: "x", PRLOOM_OTHER: "y" },
    },
  );
  assert.deepEqual(environment, {
    PATH: "/opt/bin",
    API_KEY: "k",
    GIT_TERMINAL_PROMPT: "0",
    PRLOOM_STAGE: "worker",
  });
});

test("no TODO text keeps a program from starting", () => {
  for (const text of ["a\0b", "x".repeat(1_000_000), "line\nline", "$(touch x) `id` \"'"]) {
    const env = agentEnvironment(process.env, { vars: { PRLOOM_TODO: text }, extra: {} });
    assert.equal(spawnSync("sh", ["-c", 'test -n "$PRLOOM_TODO"'], { env }).status, 0);
  }
});

const PATHS: readonly [path: string, kept: string | undefined][] = [
  ["/usr/bin:/bin", "/usr/bin:/bin"],
  ["./bin:/usr/bin:node_modules/.bin:../x", "/usr/bin"],
  [":/usr/bin::/bin:", "/usr/bin:/bin"],
  [".", undefined],
  ["", undefined],
];

for (const [path, kept] of PATHS) {
  test(`programs are looked for in folders that are the same everywhere: "${path}"`, () => {
    assert.equal(absolutePath(path), kept ?? "");
    assert.equal(agentEnvironment({ PATH: path }, { vars: {}, extra: {} }).PATH, kept);
    assert.equal(agentEnvironment({ PATH: "/sbin" }, { vars: {}, extra: { PATH: path } }).PATH, kept);
  });
}

test("a PATH with nothing in it is none at all: an empty one means the folder that one is in", () => {
  assert.equal("PATH" in agentEnvironment({ PATH: "bin" }, { vars: {}, extra: {} }), false);
});
