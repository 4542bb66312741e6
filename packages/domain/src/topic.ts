const maxLength = 200
const topicForm = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/

/** True for the name of a topic: parts of letters, digits, `_` and `-`, joined by dots; at most 200 characters. */
export function isTopic(text: string): boolean {
  return text.length <= maxLength && topicForm.test(text)
}

/** True for what a subscription may name: a topic, all topics below one (`orders.*`), or all topics (`*`). */
export function isTopicPattern(text: string): boolean {
  return text === '*' || isTopic(text.endsWith('.*') ? text.slice(0, -2) : text)
}

/**
 * Lists every pattern that a topic matches: itself, `*`, and `.*` after each of its beginnings. So whoever has the
 * subscriptions in an index needs to compare nothing. `orders.*` matches `orders.paid` and `orders.eu.paid`, not `orders`.
 */
export function patternsOf(topic: string): string[] {
  const parts = topic.split('.')
  return [topic, '*', ...parts.slice(1).map((_part, i) => `${parts.slice(0, i + 1).join('.')}.*`)]
}
