/** Trackers that take less are not for plans. */
const MIN_LENGTH = 500;
/** For what stands above and below a part: its number, and the fence that it goes on in. */
const AROUND = 120;

/** How much a tracker takes at once, and what it makes of it; made twice, that is the same. */
export interface PostingLimits {
  readonly maxLength: number;
  written?(body: string): string;
}

/**
 * The same post in as many parts as a tracker's limit demands, in order. All of it is there: a code block that does not fit is closed and
 * opened again in the next part. What makes words harmless there makes them longer, so it is done before they are counted.
 */
export function partsOf(post: string, gateId: string | undefined, { maxLength, written }: PostingLimits): string[] {
  const said = written?.(post) ?? post;
  if (said.length <= maxLength) return [post];
  const room = Math.max(MIN_LENGTH, maxLength) - AROUND;
  const bodies = packed(said, room);
  const gate = gateId === undefined ? "" : ` (gate ${gateId})`;
  return bodies.map((body, index) => `**Part ${index + 1} of ${bodies.length}**${gate}\n\n${body}`);
}

/** Whole lines as long as they fit; a line that never would is broken. */
function packed(post: string, room: number): string[] {
  const bodies: string[] = [];
  let lines: string[] = [];
  let length = 0;
  let fence: Fence | undefined;
  const cut = (): void => {
    if (lines.length > 0) bodies.push([...lines, ...(fence ? [fence.close] : [])].join("\n"));
    lines = fence ? [fence.open] : [];
    length = fence ? fence.open.length + fence.close.length + 2 : 0;
  };
  for (const line of post.split("\n").flatMap((one) => broken(one, room - AROUND))) {
    if (length + line.length + 1 > room) cut();
    lines.push(line);
    length += line.length + 1;
    const before: Fence | undefined = fence;
    fence = fenceAfter(line, before);
    if (fence && !before) length += fence.close.length + 1;
  }
  fence = undefined;
  cut();
  return bodies;
}

interface Fence {
  readonly open: string;
  readonly close: string;
}

/** The code block that goes on after a line. Ours have a fence that is longer than any in them. */
function fenceAfter(line: string, fence: Fence | undefined): Fence | undefined {
  if (fence) return line === fence.close ? undefined : fence;
  const [, close] = /^(`{3,})[a-z]*$/.exec(line) ?? [];
  return close === undefined ? undefined : { open: line, close };
}

/** Never in the middle of a character. */
function broken(line: string, max: number): string[] {
  const pieces: string[] = [];
  let rest = line;
  while (rest.length > max) {
    const isHalf = /[\uD800-\uDBFF]/.test(rest[max - 1] ?? "");
    const end = isHalf ? max - 1 : max;
    pieces.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return [...pieces, rest];
}
