import { Console } from 'node:console'
import { Writable } from 'node:stream'

/** Keeps what is printed, as it would stand in a file, until `end` is called. */
export function captureConsole(): { readonly text: () => string; readonly end: () => void } {
  const parts: string[] = []
  const stdout = new Writable({
    decodeStrings: false,
    write: (chunk: unknown, _encoding, done) => {
      parts.push(String(chunk))
      done()
    },
  })
  const kept = new Console({ stdout, stderr: process.stderr, colorMode: false })
  const methods = ['log', 'info', 'debug', 'dir', 'table'] as const
  const originals = methods.map((name) => [name, console[name]] as const)
  for (const name of methods) Object.assign(console, { [name]: kept[name].bind(kept) })
  return {
    text: () => parts.join(''),
    end: () => {
      for (const [name, original] of originals) Object.assign(console, { [name]: original })
    },
  }
}
