import * as latest from '@opentelemetry/api'
import * as lowest from '@opentelemetry/api-1.9'
import { expect, test } from 'vitest'

import { instrument, type OtelApi } from '../../src/entries/opentelemetry.ts'

const versions: Readonly<Record<string, OtelApi>> = { latest, lowest, 'the default export': latest.default }

test.each(Object.keys(versions))('what is used of the module is there in %s', (version) => {
  const api = versions[version]
  if (api === undefined) throw new Error('there is none')
  expect(() => instrument(api).stop()).not.toThrow()
})
