import type { Session } from '../core/session.ts'
import type { Dialect } from '../dialects/dialect.ts'
import type { Question, Replies } from '../dialects/tools.ts'
import { readFailure } from './failure.ts'

/** The rows of an answer, or why there is none. */
type Reply = { readonly rows: Replies[string]; readonly why?: string }

/** Who is asked. */
interface Asked {
  readonly session: Session
  readonly dialect: Dialect
  /** Told when an answer leaves the session in a state that nobody knows. */
  readonly doubt: (why: unknown) => void
}

/** Asks one after the other. What the server refuses is told in words; rejects when the connection is lost. */
export async function askAll(
  questions: Readonly<Record<string, Question>>,
  asked: Asked,
): Promise<{ readonly replies: Replies; readonly refused: readonly string[] }> {
  const replies: Record<string, Replies[string]> = {}
  const refused: string[] = []
  for (const [name, question] of Object.entries(questions)) {
    const isIdle = question.onlyIf !== undefined && replies[question.onlyIf]?.length === 0
    const { rows, why } = isIdle ? { rows: [] } : await ask(question, asked)
    replies[name] = rows
    if (why !== undefined) refused.push(`${question.unknown} (${why})`)
  }
  return { replies, refused }
}

async function ask(question: Question, { session, dialect, doubt }: Asked): Promise<Reply> {
  try {
    return { rows: await session.run(question.ask) }
  } catch (error) {
    const { kind, code, transaction, original } = readFailure(error, dialect)
    if (kind === 'connection-lost') throw error
    if (transaction === 'unknown') doubt(error)
    return { rows: undefined, why: reasonOf(original, code) }
  }
}

/** In one short line. Some servers repeat the whole command, and what signs it, behind their words. */
function reasonOf(error: unknown, code: string | undefined): string {
  const message = error instanceof Error ? error.message : String(error)
  const [line = ''] = message.trim().split(/[\r\n{]/, 1)
  const words = line
    .replaceAll(/\/\/\S*@/g, '//')
    .trim()
    .slice(0, 160)
  if (words === '') return code === undefined ? 'refused' : `code ${code}`
  return code === undefined || words.includes(code) ? words : `${words}; code ${code}`
}
