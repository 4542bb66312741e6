const maxLength = 200
const topicForm = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/

/** Returns whether text is a topic name: parts of letters, digits, `_` and `-`, joined by dots; at most 200 characters. */
export function isTopic(text: string): boolean {
  return text.length <= maxLength && topicForm.test(text)
}

/** Returns whether text is a topic pattern: a topic, all topics below one (`orders.*`), or all topics (`*`). */
export function isTopicPattern(text: string): boolean {
  return text === '*' || isTopic(text.endsWith('.*') ? text.slice(0, -2) : text)
}

/**
 * Returns every pattern that a topic matches: itself, `*`, and each of its prefixes with `.*`. An index lookup can therefore
 * find all subscriptions. `orders.*` matches `orders.paid` and `orders.eu.paid`, not `orders`.
 */
export function patternsOf(topic: string): string[] {
  const parts = topic.split('.')
  return [topic, '*', ...parts.slice(1).map((_part, i) => `${parts.slice(0, i + 1).join('.')}.*`)]
}
