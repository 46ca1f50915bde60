import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/*
 * Writes the page of the board as one text: its script with all that it imports, and its style. Both are kept in the
 * repository, so that the program runs from its sources as it does when it is built.
 *
 *   npm run board:write
 *   npm run board:write -- --check   # fails when what is kept is older than the sources
 */

const root = new URL('../../', import.meta.url)
const target = new URL('src/cli/board/page-bundle.ts', root)

async function bundled(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`src/cli/board/page/${file}`, root))],
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome111', 'firefox113', 'safari16.4'],
    charset: 'ascii',
    legalComments: 'none',
    write: false,
  })
  // what stands between the tags must not end them
  return (outputFiles[0]?.text ?? '').trim().replaceAll('</', '<\\/')
}

const [script, style] = await Promise.all([bundled('main.ts'), bundled('page.css')])
const text = [
  '// Written by `npm run board:write` from the folder page.',
  `export const script: string = ${JSON.stringify(script)}`,
  `export const style: string = ${JSON.stringify(style)}`,
  '',
].join('\n')

if (!process.argv.includes('--check')) await writeFile(target, text)
else if ((await readFile(target, 'utf8')) !== text) {
  console.error('src/cli/board/page-bundle.ts is older than its sources: npm run board:write')
  process.exitCode = 1
}
