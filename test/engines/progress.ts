/** Says on stderr what takes long, so that a download does not look like a hang. */
export function progress(message: string): void {
  process.stderr.write(`engines: ${message}\n`)
}
