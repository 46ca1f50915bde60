/** The line of the test that calls this. */
export function lineHere(): number {
  const frame = new Error('here').stack?.split('\n')[2] ?? ''
  return Number(/:(?<line>\d+):\d+\)?$/.exec(frame)?.groups?.line)
}
