/** Variables of an environment, by name: of this process, or of one that is to be started. */
export type Environment = Readonly<Record<string, string | undefined>>;
