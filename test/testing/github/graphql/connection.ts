interface Wanted {
  readonly first?: number | null;
  readonly last?: number | null;
  readonly after?: string | null;
}

/** One page of a list; a cursor names the last item of the page before, so it survives what comes in between. */
export function connection<T extends { readonly id: string }>(
  all: readonly T[],
  { first, last, after }: Wanted,
): Record<string, unknown> {
  if (typeof first !== "number" && typeof last !== "number") {
    throw new Error("You must provide a `first` or `last` value to properly paginate the connection.");
  }
  const from = after ? all.findIndex(({ id }) => id === after) + 1 : 0;
  const rest = all.slice(from);
  const nodes = typeof first === "number" ? rest.slice(0, Math.min(100, first)) : rest.slice(-Math.min(100, last ?? 0));
  return {
    nodes,
    totalCount: all.length,
    pageInfo: {
      endCursor: nodes.at(-1)?.id ?? null,
      hasNextPage: typeof first === "number" && rest.length > nodes.length,
    },
  };
}
