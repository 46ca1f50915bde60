import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'

import { addressFields, addressProblems, repositoryPage } from '../../scripts/address/fields.ts'

const project = new URL('../../', import.meta.url)

describe('the address of the project', () => {
  const fields = addressFields('https://git.example.org/team/holdfast/')

  test('is one, and makes all three fields', () => {
    expect(fields).toEqual({
      repository: { type: 'git', url: 'git+https://git.example.org/team/holdfast.git' },
      homepage: 'https://git.example.org/team/holdfast#readme',
      bugs: { url: 'https://git.example.org/team/holdfast/issues' },
    })
    expect(addressProblems(fields)).toEqual([])
    expect(repositoryPage(fields)).toBe('https://git.example.org/team/holdfast')
    expect(repositoryPage({})).toBeUndefined()
  })

  test('must be set before anything is published', async () => {
    const { scripts } = JSON.parse(await readFile(new URL('package.json', project), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    expect(scripts['prepublishOnly']).toBe('npm run address -- --check')
    expect(addressProblems({})).toEqual([
      'package.json does not say where the repository is: set it with: npm run address -- https://host/owner/name',
    ])
  })

  test('is not one field more or less', () => {
    const { homepage } = fields
    expect(addressProblems({ ...fields, homepage: 'https://elsewhere.example.org' })).toHaveLength(1)
    expect(addressProblems({ repository: fields.repository, homepage })).toHaveLength(1)
  })

  test.each(['', 'holdfast', 'http://git.example.org/team/holdfast', 'https://git.example.org/holdfast'])(
    'is not %j',
    (address) => {
      expect(() => addressFields(address)).toThrow('is not the address of a repository')
    },
  )
})
