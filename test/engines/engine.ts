import type { Row, Statement } from '../../src/core/statement.ts'

/** Where a running engine came from, in the order in which the ways are tried. */
export type Origin = 'url' | 'container' | 'installed' | 'download' | 'embedded'

/** A running server, as plain data: it is handed from the process that started it to every test worker. */
export interface Server {
  /** The dialect it speaks: the file's name under `test/engines/` and the folder's under `src/dialects/`. */
  readonly engine: string
  readonly version: string
  readonly origin: Origin
  /** How to reach it. May hold a password: never print it, print `describeUrl(url)`. */
  readonly url: string
  /** The server's own process, when we started it on this machine: what `freeze` stops. */
  readonly pid?: number
  /** Its private folder, when we made one. */
  readonly folder?: string
}

/** A server that this process started and must end. */
export interface StartedServer {
  readonly server: Server
  /** Ends the process and starts it again on the same port and data. Absent where we do not own the process. */
  readonly restart?: () => Promise<StartedServer>
  /** Stops the server where it stands, as a stalled machine would, and lets it go on. Absent where we cannot. */
  readonly freeze?: () => Promise<void>
  readonly thaw?: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * One way to get an engine. `start` gives a reason in words when that way is not open on this machine.
 *
 * A rejection is a way that was open and failed: its message is reported, and the next way is tried. A URL that was
 * given and does not answer ends the search, because nobody who names a server wants to test another one.
 */
export interface Source {
  readonly origin: Origin
  readonly start: () => Promise<StartedServer | Unavailable>
}

export interface Unavailable {
  readonly unavailable: string
}

/**
 * One engine: the default export of `test/engines/<dialect>.ts`.
 *
 * Files of this folder with a line that begins with `export default` are the engines; no list names them.
 */
export interface EngineKind {
  readonly name: string
  /** Tried in order; the first that does not answer {@link Unavailable} is used. */
  readonly sources: readonly Source[]
  /**
   * Opens a client side for a running server; used in every test file, often in several at once.
   *
   * Each call makes a database of its own (a schema, a file, whatever the engine calls it), so that files running at
   * once never see each other's tables and locks. `Engine.server.url` leads into it; `Engine.close` drops it.
   */
  readonly connect: (server: Server) => Promise<Engine>
  /** What `engines.test.ts` needs to prove that this file tells the truth. */
  readonly sample: EngineSample
}

/** A few statements in the engine's own language, run by `engines.test.ts` in a fresh database. */
export interface EngineSample {
  /** Makes one table (collection) with one row. */
  readonly setUp: readonly Statement[]
  /** Adds one to the row's number. */
  readonly increment: Statement
  /** Reads the row: one row with the number under the name `n`. It is 0 after `setUp`. */
  readonly read: Statement
  /**
   * Pairs of statements that cannot both go on. The first session begins, runs `hold` and stays; the second begins and
   * runs `want`. Where `canObserveWaiting`, the second must be seen waiting until the first session is closed, and
   * then succeed; where not, the second must be refused at once. Without the first, `want` must succeed.
   * Give one for each kind of wait that `isWaiting` claims to see: row, named lock, table.
   */
  readonly contests: readonly Contest[]
  /** Takes a second or so and waits for no lock: must not be taken for waiting. */
  readonly busy?: Statement
}

export interface Contest {
  /** What they contend for, as in `a row` or `a named lock`. */
  readonly over: string
  readonly hold: Statement
  readonly want: Statement
  /** How the transactions of the two are begun, where the plain way takes no lock. */
  readonly mode?: string
  /** The second runs `want` by itself, without beginning a transaction. */
  readonly wantIsPlain?: boolean
  /** The second is refused at once, although this engine has other contests in which it waits. */
  readonly isRefused?: boolean
}

/** A running engine as a test sees it. */
export interface Engine {
  /** As it was given to `connect`, but for the URL, which leads into the database made for this object. */
  readonly server: Server
  /** Whether a session that waits for a lock can be seen from outside. False where the engine never waits by itself. */
  readonly canObserveWaiting: boolean
  /** Opens one more session of its own: a connection that is shared with nobody. Works again after a restart. */
  open: () => Promise<EngineSession>
  /** Whether the server itself says that this session waits for a lock now. */
  isWaiting: (session: EngineSession) => Promise<boolean>
  /** Ends a session from the server's side, as an administrator would. */
  kill: (session: EngineSession) => Promise<void>
  /**
   * What the server still holds: one line per lock, open transaction or named lock that any session in our database
   * holds, but for the observer's own. Empty after a clean test.
   */
  leftovers: () => Promise<readonly string[]>
  /** Drops the database that `connect` made and closes the observer's connection. Does not stop the server. */
  close: () => Promise<void>
}

/** One connection to the engine. */
export interface EngineSession {
  /** What the server calls this session (backend pid, connection id ...). */
  readonly id: string
  run: (statement: Statement) => Promise<readonly Row[]>
  /** Starts a transaction; `mode` is the dialect's own word, such as SQLite's `IMMEDIATE`. */
  begin: (mode?: string) => Promise<void>
  commit: () => Promise<void>
  rollback: () => Promise<void>
  close: () => Promise<void>
}
