/** Values by their names. */
export type Variables = Readonly<Record<string, string | number | boolean | undefined>>

const reference = /\$(?:\$\{|\{([A-Za-z_][A-Za-z0-9_]*)\})/g

/**
 * Replaces `${NAME}` in all texts of a value; `$${` stands for `${`. A text that is only a reference takes the type of its
 * variable. Reports each variable that has no value with its place.
 */
export function fillIn(value: unknown, variables: Variables, place: string): { value: unknown; problems: string[] } {
  const problems: string[] = []
  const lookUp = (name: string, at: string) => {
    const found = variables[name]
    if (found === undefined) problems.push(`${at}: The variable ${name} has no value.`)
    return found
  }
  const visit = (node: unknown, at: string): unknown => {
    if (typeof node === 'string') {
      const [whole, name] = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(node) ?? []
      if (whole !== undefined && name !== undefined) return lookUp(name, at)
      return node.replace(reference, (_, name?: string) => (name === undefined ? '${' : String(lookUp(name, at))))
    }
    if (Array.isArray(node)) return node.map((item, i) => visit(item, `${at}[${i}]`))
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, visit(member, `${at}.${name}`)]))
  }
  return { value: visit(value, place), problems }
}
