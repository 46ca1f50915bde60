import { writeSync } from 'node:fs'
import { parseArgs } from 'node:util'

/** What a story says of itself. */
export interface Telling {
  /** What it shows, for `--help`. */
  readonly shows: string
  /** Whether it can stay up on a port. */
  readonly isService?: boolean
  /** The address where the command line has none. @default a file in a temporary folder */
  readonly defaultUrl?: string | undefined
  /** The databases that it takes, as their addresses begin, and as people call them. @default all */
  readonly only?: { readonly protocols: readonly string[]; readonly are: string }
  /** What Ctrl-C does. @default takes the database away and ends the process */
  readonly onInterrupt?: () => void
}

export interface Arguments {
  readonly url: string | undefined
  readonly withoutLock: boolean
  readonly port: number | undefined
}

/** Reads the command line. A mistake in it, or the wish for help, ends the process. */
export function readArguments(telling: Telling): Arguments {
  const { values, positionals } = parse(telling)
  if (values.help === true) tell(helpOf(telling))
  // not repeated: it may hold a password
  if (positionals.length > 0) return refuse('give the address of a database as --url <address>', 2)
  const { url = telling.defaultUrl, 'without-lock': withoutLock = false, port } = values
  const { protocols, are } = telling.only ?? {}
  if (url !== undefined && protocols?.some((one) => url.startsWith(one)) === false)
    return refuse(`give the address of ${are}`, 2)
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) < 65_536))
    return refuse(`--port: ${JSON.stringify(port)} is no port`, 2)
  return { url, withoutLock, port: port === undefined ? undefined : Number(port) }
}

/** Ends the process with one line: 2 for a mistake in the command line, 3 for a database that cannot be had. */
export function refuse(why: string, exitCode: 2 | 3): never {
  writeSync(process.stderr.fd, `${why}\n`)
  process.exit(exitCode)
}

function tell(text: string): never {
  writeSync(process.stdout.fd, text)
  process.exit(0)
}

function parse({ isService = false }: Telling): ReturnType<typeof parseAll> {
  const known = isService ? '--url, --without-lock, --port, --help' : '--url, --without-lock, --help'
  try {
    const parsed = parseAll()
    if (!isService && parsed.values.port !== undefined) return refuse(`--port is no option: ${known}`, 2)
    return parsed
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    const option = /^Unknown option '(-{1,2}[\w-]*)/.exec(words)?.[1]
    if (option !== undefined) return refuse(`${option} is no option: ${known}`, 2)
    return refuse(words.split(/[.\n]/, 1)[0] ?? words, 2)
  }
}

// what it gives is told by its options, and a type written by hand would say it twice
function parseAll() {
  return parseArgs({
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      'without-lock': { type: 'boolean' },
      port: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
}

function helpOf({ shows, isService = false }: Telling): string {
  const lines = [
    shows,
    '',
    '  --url <address>   the server to run on, such as postgres://me:secret@localhost/me; also mysql:, mariadb:,',
    '                    sqlite:, duckdb:, mssql: and mongodb:. Without it: SQLite, in a temporary folder.',
    '                    The story makes a database of its own, and takes it away in the end.',
    '  --without-lock    shows what happens when the lock is left out',
    ...(isService ? ['  --port <port>     stays up on this port, for curl, until Ctrl-C'] : []),
    '  --help            prints this',
    '',
  ]
  return lines.join('\n')
}
