import { describe, expect, test } from 'vitest'

import { wrongIn } from './sample.ts'

describe('a program by itself', () => {
  test.each([
    ['a value', '~~~ts\n\n[1].map((n) => ({ n })) // => [{ n: 1 }]\n~~~'],
    [
      'a value over several lines',
      '~~~ts\nconst a = { n: 1, m: 2 }\n// => {\n//   n: 1, m: 2\n// }\n// and this is a remark\n~~~',
    ],
    [
      'a value inside of a function',
      '~~~ts\nfunction f() {\n  return 1 // => 1\n}\nif (f() === 1) f() // => 1\n~~~',
    ],
    ['lines that are printed', '~~~ts\nconsole.log({ a: 1 }, "b\\nc") // => { a: 1 } b\n// c\n~~~'],
    ['an error', "~~~ts\nawait Promise.reject(new TypeError('no way')) // throws TypeError: way\n~~~"],
    [
      'a refused line',
      '~~~ts\nconst n: number = "x" // error TS2322: Type\nprocess.nothing()\n// error TS2339: Property\n~~~',
    ],
  ])('is as it says: %s', async (_, markdown) => {
    expect(await wrongIn(markdown)).toBe('')
  })

  test.each([
    [
      'a changed value',
      '~~~ts\nconst a = 1\n\na + 1 // => 3\n~~~',
      'docs/sample.md:4: the value is another one\n  the page says: 3\n  really: 2',
    ],
    [
      'a missing field',
      '~~~ts\n({ a: 1 }) // => { a: 1, b: 2 }\n~~~',
      'docs/sample.md:2: the value is another one',
    ],
    [
      'a field too many',
      '~~~ts\n({ a: 1, b: 2 }) // => { a: 1 }\n~~~',
      'docs/sample.md:2: the value is another one',
    ],
    [
      'a promise for its value',
      '~~~ts\nPromise.resolve(1) // => 1\n~~~',
      'docs/sample.md:2: the value is another one',
    ],
    [
      'another line that is printed',
      "~~~ts\nconsole.log('a') // => b\n~~~",
      'docs/sample.md:2: it prints something else',
    ],
    [
      'another output',
      "~~~ts\nconsole.log('a')\n~~~\n~~~text\nb\n~~~",
      'docs/sample.md:4: the program prints something else',
    ],
    [
      'another class',
      "~~~ts\nawait Promise.reject(new TypeError('x')) // throws RangeError\n~~~",
      'docs/sample.md:2: it throws another error',
    ],
    [
      'the class above',
      "~~~ts\nawait Promise.reject(new TypeError('x')) // throws Error\n~~~",
      'docs/sample.md:2: it throws another error',
    ],
    [
      'another message',
      "~~~ts\nawait Promise.reject(new TypeError('x')) // throws TypeError: y\n~~~",
      'docs/sample.md:2: the error says something else',
    ],
    [
      'no error',
      '~~~ts\nawait Promise.resolve(1) // throws TypeError\n~~~',
      'docs/sample.md:2: it throws nothing',
    ],
    [
      'an error that it does not say',
      "~~~ts\n\nthrow new TypeError('x')\n~~~",
      'docs/sample.md:3: it throws TypeError: x',
    ],
    [
      'a mark that is never reached',
      '~~~ts\nif (Date.now() < 0) {\n  Date.now() // => 1\n}\n~~~',
      'docs/sample.md:3: the program never came here',
    ],
    [
      'a value that is none',
      '~~~ts\n1 // => the number one\n~~~',
      'docs/sample.md:1: line 1 of the block: what stands behind =>',
    ],
    [
      'a mark without a statement',
      '~~~ts\nconst a = [\n  1, // => 1\n]\n~~~',
      'docs/sample.md:1: line 2 of the block: no statement ends',
    ],
    [
      'a mark far from its statement',
      '~~~ts\n1\n\n// => 1\n~~~',
      'docs/sample.md:1: line 3 of the block: no statement ends',
    ],
  ])('fails with %s', async (_, markdown, message) => {
    expect(await wrongIn(markdown)).toContain(message)
  })

  test('fails inside of a try block too, where nothing that is thrown would be seen', async () => {
    const markdown = '~~~ts\ntry {\n  1 // => 2\n} catch {\n  // nothing\n}\n~~~'
    expect(await wrongIn(markdown)).toContain('docs/sample.md:3: the value is another one')
  })
})
