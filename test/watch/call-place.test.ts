import { join, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'

import { placeIn } from '../../src/watch/call-place.ts'

const own = resolve('own') + sep
const app = resolve('app', 'orders.ts')

test.each([
  ['a path', `Error\n    at buy (${app}:42:7)`],
  ['an address', `Error\n    at async buy (${pathToFileURL(app).href}:42:7)`],
  ['a function without a name', `Error\n    at ${app}:42:7`],
  [
    'below our own code, packages and Node',
    [
      'Error',
      `    at lock (${join(own, 'locks.js')}:1:1)`,
      `    at query (${resolve('node_modules', 'pg', 'client.js')}:9:9)`,
      '    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)',
      '    at <anonymous>',
      `    at async Object.buy [as work] (${app}:42:7)`,
    ].join('\n'),
  ],
])('finds the caller: %s', (_, stack) => {
  expect(placeIn(stack, own)).toEqual({ file: join('app', 'orders.ts'), line: 42, column: 7 })
})

test.each(['', 'Error', 'Error\n    at file://%zz/x.ts:1:1', `Error\n    at f (${join(own, 'a.js')}:1:1)`])(
  'finds none in: %s',
  (stack) => {
    expect(placeIn(stack, own)).toBeUndefined()
  },
)
