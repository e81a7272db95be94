import { spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { gitEnvironment } from "./git.ts";
import type { Repository } from "./world.ts";

/** Hands a request for `/<owner>/<name>.git/…` to git's own server program. */
export async function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  { repository, rest, user }: { repository: Repository; rest: string; user: string | undefined },
): Promise<void> {
  const [path = "", query = ""] = rest.split("?");
  const child = spawn("git", ["http-backend"], {
    env: {
      ...gitEnvironment,
      GIT_PROJECT_ROOT: dirname(repository.folder),
      GIT_HTTP_EXPORT_ALL: "1",
      ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "http.receivepack", GIT_CONFIG_VALUE_0: "true" },
      PATH_INFO: `/${repository.id}.git${path}`,
      QUERY_STRING: query,
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      ...(user === undefined ? {} : { REMOTE_USER: user }),
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const sent = pipeline(request, child.stdin).catch(() => undefined); // git may not want the rest
  let head = Buffer.alloc(0);
  let isBody = false;
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    if (isBody) {
      response.write(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end < 0) continue;
    isBody = true;
    writeHead(response, head.subarray(0, end).toString("latin1"));
    response.write(head.subarray(end + 4));
  }
  await sent;
  response.end();
}

function writeHead(response: ServerResponse, head: string): void {
  const headers = head
    .split("\r\n")
    .map((line): [string, string] => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
  const status = headers.find(([name]) => name.toLowerCase() === "status")?.[1];
  response.writeHead(
    status ? Number.parseInt(status, 10) : 200,
    headers.filter(([name]) => name.toLowerCase() !== "status").flat(),
  );
}
