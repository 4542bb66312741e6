import type { ComponentProps, ReactNode } from 'react'
import { useId } from 'react'
import styles from './field.module.css'
import { Tooltip } from './tooltip.tsx'

type ToggleProps = {
  label: ReactNode
  hint?: ReactNode
  name?: string
  isOn?: boolean
  isInitiallyOn?: boolean
  onChange?: (isOn: boolean) => void
  /** Why the value cannot be changed. */
  refusal?: string | null | undefined
  /** Shows the label to screen readers only, as in a table. */
  isLabelHidden?: boolean
}

/** A checkbox. Its value is submitted with the form. */
export function Checkbox(props: ToggleProps) {
  return <Toggle {...props} className={styles.box} />
}

/** A switch. Its change applies immediately. */
export function Switch(props: ToggleProps) {
  return <Toggle {...props} className={styles.switch} role="switch" />
}

function Toggle(props: ToggleProps & Pick<ComponentProps<'input'>, 'className' | 'role'>) {
  const { label, hint, name, isOn, isInitiallyOn, onChange, refusal, isLabelHidden, className, role } = props
  const id = useId()
  const toggle = (
    <input
      type="checkbox"
      id={id}
      className={className}
      role={role}
      name={name}
      checked={isOn}
      defaultChecked={isInitiallyOn}
      aria-describedby={hint == null ? undefined : `${id}-hint`}
      aria-disabled={refusal ? true : undefined}
      // A refused one keeps its focus, and its tooltip.
      onClick={refusal ? event => event.preventDefault() : undefined}
      onChange={event => onChange?.(event.target.checked)}
    />
  )
  return (
    <div className={styles.check}>
      {refusal ? <Tooltip text={refusal}>{toggle}</Tooltip> : toggle}
      <label htmlFor={id} className={isLabelHidden ? 'visually-hidden' : undefined}>
        {label}
      </label>
      {hint != null && (
        <div id={`${id}-hint`} className={styles.hint}>
          {hint}
        </div>
      )}
    </div>
  )
}
