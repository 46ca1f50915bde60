import { cp, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

import { root } from '../docs/page.ts'
import { describeEngines } from '../engines/use.ts'
import type { Block } from './blocks.ts'
import { node, tool } from './project.ts'

const starters = new URL('examples/starter/', root)
const names = (await readdir(starters)).filter((name) => !name.includes('.'))

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

async function readManifest(at: URL): Promise<Manifest> {
  return JSON.parse(await readFile(at, 'utf8')) as Manifest
}

/** The folders that can be copied, out of the package as it is installed. `folder` is where their packages are found. */
export function describeStarters(folder: () => string, blocks: readonly Block[]): void {
  const blockOf = (name: string): Block | undefined => blocks.find(({ engines }) => engines.includes(name))

  describe('the starters', () => {
    test.each(names)('%s has the program of the page', async (name) => {
      expect(await readFile(new URL(`${name}/program.ts`, starters), 'utf8')).toBe(blockOf(name)?.text)
    })

    test.each(names)('%s installs the versions that are tested', async (name) => {
      const { dependencies, devDependencies } = await readManifest(new URL(`${name}/package.json`, starters))
      const here = await readManifest(new URL('package.json', root))
      const { holdfast, ...others } = { ...dependencies, ...devDependencies }
      const { version } = here as Manifest & { readonly version: string }
      expect(holdfast).toBe(`^${version}`)
      const tested = Object.keys(others).map((one) => [one, `^${here.devDependencies[one]}`] as const)
      expect(others).toEqual(Object.fromEntries(tested))
    })

    describeEngines(
      (context) => {
        test('compiles and prints what the page says', { timeout: 600_000 }, async () => {
          const copy = join(folder(), `my-${context.name}`)
          const starter = join(folder(), 'node_modules/holdfast/examples/starter', context.name)
          await cp(starter, copy, { recursive: true })
          await node([tool('typescript/bin/tsc')], copy)
          const args = [tool('tsx/dist/cli.mjs'), 'program.ts']
          const { stdout } = await node(args, copy, context.engine.server.url)
          expect(stdout).toBe(blockOf(context.name)?.prints)
        })
      },
      { only: names },
    )
  })
}
