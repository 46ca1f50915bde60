import { fenced } from '../conformance/reporters/markdown-text.ts'
import { visible, visibleJson, visibleLines } from '../conformance/reporters/visible.ts'
import { categories, categoryMeaning, isCategory, type Category } from '../core/category.ts'
import { UnsupportedLockError } from '../core/errors.ts'
import { emit } from '../emit.ts'
import { explain as explainLock } from '../explain.ts'
import { CliUsageError, exitCodes, type Call, type Command } from './command.ts'
import { checkOptions, requestOf, requestOptions } from './explain-request.ts'
import { asUsage, oneOfWords, readServer, type NamedServer } from './server-name.ts'

/** Prints what is sent for a lock, what it gives and who waits. A lock that is refused is an answer too. */
export const explain: Command = {
  name: 'explain',
  parameters: '<dialect[@version]> [category]',
  summary: `Show what is sent for a lock: ${categories.join(', ')}`,
  options: {
    ...requestOptions,
    format: { type: 'string', value: '<text|json|markdown>', summary: 'The output format (default: text)' },
  },
  run: (call) => ({ text: `${asUsage(() => show(call))}\n`, exitCode: exitCodes.ok }),
}

function show(call: Call): string {
  const { server, category } = read(call.positionals)
  checkOptions(call, category)
  const shown = category === undefined ? categories : [category]
  const title = visible(`${server.dialect.title} ${server.version}`)
  switch (oneOfWords('format', call.text('format'), ['text', 'json', 'markdown'])) {
    case 'text':
      return visibleLines(
        [title, ...shown.map((one) => explainLock(server, one, requestOf(call, one)))].join('\n\n'),
      )
    case 'json':
      return asJson(
        server,
        shown.map((one) => planOf(server, one, call)),
      )
    case 'markdown':
      return [`# ${title}`, ...shown.map((one) => section(server, one, call))].join('\n\n')
  }
}

function read([name, category, ...rest]: readonly string[]): {
  readonly server: NamedServer
  readonly category: Category | undefined
} {
  if (name === undefined) throw new CliUsageError('explain: name a dialect')
  if (rest.length > 0) throw new CliUsageError(`explain: one category at a time, and no ${rest.join(' ')}`)
  const server = readServer(name)
  if (category === undefined || isCategory(category)) return { server, category }
  throw new CliUsageError(
    `${JSON.stringify(category)} is not a category; use one of ${categories.join(', ')}`,
  )
}

function section(server: NamedServer, category: Category, call: Call): string {
  const text = explainLock(server, category, requestOf(call, category))
  return `## ${category}\n\n${categoryMeaning[category]}\n\n${fenced(text)}`
}

/** A plan, or why there is none. */
function planOf(server: NamedServer, category: Category, call: Call): object {
  try {
    return emit(server, category, requestOf(call, category))
  } catch (error) {
    if (!(error instanceof UnsupportedLockError)) throw error
    const { reason, instead } = error
    return {
      dialect: error.dialect,
      category: error.category,
      support: { level: 'unsupported', reason, instead },
    }
  }
}

/** JSON has no numbers of 64 bits: they are text. */
function asJson({ dialect, version }: NamedServer, locks: readonly object[]): string {
  const plain: unknown = JSON.parse(
    JSON.stringify(locks, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)),
  )
  return visibleJson({ dialect: dialect.name, version, locks: plain })
}
