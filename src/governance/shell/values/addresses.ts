const METADATA =
  /^(?:169\.254\.(?:169\.254|170\.2|170\.23)|100\.100\.100\.200|192\.0\.0\.192|\[fd00:ec2::(?:254|23)\]|\[::ffff:a9fe:a9fe\]|metadata(?:\.google\.internal|\.azure\.internal|\.platformequinix\.com)?\.?)$/;

/** Where machines in a cloud get their tokens, however the address is spelled. */
export function isSecretAddress(url: string): boolean {
  // Without a scheme, a port would be read as one.
  const address = /^\s*[a-z][a-z+.-]*:\/\//i.test(url) ? url : `http://${url}`;
  return METADATA.test(URL.parse(address)?.hostname ?? "");
}
