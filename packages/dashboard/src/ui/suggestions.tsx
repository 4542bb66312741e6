import { moveAmongChildren } from './arrow-keys.ts'
import { Button } from './button.tsx'
import styles from './field.module.css'

type SuggestionsProps<Value> = {
  /** The accessible name. */
  label: string
  choices: Readonly<Record<string, Value>>
  onChoose(value: Value): void
}

export function Suggestions<Value>({ label, choices, onChoose }: SuggestionsProps<Value>) {
  return (
    <div role="toolbar" aria-label={label} className={styles.suggestions} onKeyDown={moveAmongChildren}>
      {Object.entries(choices).map(([text, value], index) => (
        <Button key={text} size="small" tabIndex={index === 0 ? 0 : -1} onClick={() => onChoose(value)}>
          {text}
        </Button>
      ))}
    </div>
  )
}
