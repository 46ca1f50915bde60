/** What package.json says about where the project is. */
export interface AddressFields {
  readonly repository: { readonly type: 'git'; readonly url: string }
  readonly homepage: string
  readonly bugs: { readonly url: string }
}

/** All three from the one address of the repository's page. Throws where that is no such address. */
export function addressFields(address: string): AddressFields {
  const page = address.replace(/\/$/, '').replace(/\.git$/, '')
  if (!/^https:\/\/[\w.-]+\.[a-z]+(?:\/[\w.-]+){2,}$/.test(page))
    throw new Error(`${address} is not the address of a repository, such as https://host/owner/name`)
  return {
    repository: { type: 'git', url: `git+${page}.git` },
    homepage: `${page}#readme`,
    bugs: { url: `${page}/issues` },
  }
}

/** The page of the repository that package.json names. Undefined where it names none. */
export function repositoryPage(manifest: {
  readonly repository?: { readonly url?: string }
}): string | undefined {
  return manifest.repository?.url?.replace(/^git\+/, '').replace(/\.git$/, '')
}

/** Why a package with this description must not be published. */
export function addressProblems(manifest: Partial<Record<keyof AddressFields, unknown>>): readonly string[] {
  const { url } = (manifest.repository ?? {}) as { readonly url?: string }
  const set = 'set it with: npm run address -- https://host/owner/name'
  if (url === undefined) return [`package.json does not say where the repository is: ${set}`]
  const wanted = addressFields(url.replace(/^git\+/, ''))
  return (['repository', 'homepage', 'bugs'] as const)
    .filter((field) => JSON.stringify(manifest[field]) !== JSON.stringify(wanted[field]))
    .map((field) => `package.json: ${field} is not what the repository's address makes it: ${set}`)
}
