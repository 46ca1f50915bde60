import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'

/** Relative links and pictures of a page; what stands in a block of code is no link. */
function targetsIn(page: string, text: string): readonly string[] {
  const prose = text.replaceAll(/^(`{3,}).*?^\1$/gms, '')
  return Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link)
    .filter((link) => !/^(?:[a-z]+:|#)/.test(link))
    .map((link) => posix.join(posix.dirname(page), link.replace(/#.*$/, '')))
}

/** What `links` lead to that is not in `files`. */
function deadLinks(pages: ReadonlyMap<string, string>, files: readonly string[]): readonly string[] {
  return [...pages].flatMap(([page, text]) =>
    targetsIn(page, text)
      .filter((target) => !files.includes(target))
      .map((target) => `${page} links to ${target}`),
  )
}

/** What a reader of `node_modules/holdfast` finds there. */
export function describeContents(place: () => string): void {
  describe('the published package', () => {
    let files: readonly string[] = []
    beforeAll(async () => {
      const entries = await readdir(place(), { recursive: true, withFileTypes: true })
      files = entries
        .filter((entry) => entry.isFile())
        .map((entry) =>
          join(entry.parentPath, entry.name)
            .slice(place().length + 1)
            .replaceAll('\\', '/'),
        )
    })

    test('has the docs, their pictures, the examples, the changelog and llms.txt', () => {
      const wanted = ['README.md', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'llms.txt', 'docs/index.md']
      const pictures = ['docs/pictures/inspect.svg', 'docs/pictures/verify.svg']
      expect(files).toEqual(expect.arrayContaining([...wanted, ...pictures, 'examples/README.md']))
    })

    test('has nothing that only the project itself needs', () => {
      const folders = new Set(
        files.filter((path) => path.includes('/')).map((path) => path.split('/', 1).join()),
      )
      expect([...folders].toSorted()).toEqual(['cjs', 'dist', 'docs', 'examples'])
      expect(files.filter((path) => path.endsWith('.map'))).toEqual([])
      // one file for each source was 3,133; what is loaded on demand, and shared with others, has files of its own
      expect(files.length).toBeLessThan(1000)
    })

    test('has only links that lead somewhere', async () => {
      const names = files.filter((path) => /\.(?:md|txt)$/.test(path))
      const read = names.map(async (path) => [path, await readFile(join(place(), path), 'utf8')] as const)
      expect(deadLinks(new Map(await Promise.all(read)), files)).toEqual([])
    })

    test('would be noticed to have one that does not', () => {
      const text = '[b](b.md#x) ![c](c.svg)\n\n```md\n[d](d.md)\n```\n[e](https://e.example.org)'
      const there = ['docs/a.md', 'docs/b.md']
      expect(deadLinks(new Map([['docs/a.md', text]]), there)).toEqual(['docs/a.md links to docs/c.svg'])
    })
  })
}
