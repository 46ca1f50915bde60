import { notWanted } from '../adapters/must-have.ts'
import { checkFlag, onlyKnown } from '../core/check-field.ts'

type Members = Readonly<Record<string, unknown>>

/** What is used of the module, by the part that has it. */
const used: Readonly<Record<string, readonly string[]>> = {
  context: ['active', 'with'],
  trace: ['getTracerProvider', 'getSpan', 'setSpan'],
  metrics: ['getMeterProvider'],
}

/** What each provider has. */
const providers = { tracerProvider: 'getTracer', meterProvider: 'getMeter' } as const

/** Throws where `instrument` was given something else: only TypeScript sees it before. */
export function checkInstrument(api: unknown, options: object): void {
  const parts = (api ?? {}) as Members
  if (!Object.entries(used).every(([part, methods]) => hasMethods(parts[part], methods)))
    throw notWanted(api, {
      field: 'api',
      pass: "the module, as in import * as api from '@opentelemetry/api'",
    })
  onlyKnown(options, [...Object.keys(providers), 'keys'])
  const given = options as Members
  for (const [field, method] of Object.entries(providers)) {
    const provider = given[field]
    if (provider !== undefined && !hasMethods(provider, [method]))
      throw notWanted(provider, { field, pass: `an object with ${method}()` })
  }
  checkFlag('keys', given.keys as boolean | undefined)
}

function hasMethods(given: unknown, methods: readonly string[]): boolean {
  const members = (given ?? {}) as Members
  return methods.every((name) => typeof members[name] === 'function')
}
