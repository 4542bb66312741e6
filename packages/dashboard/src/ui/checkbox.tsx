import { Check } from 'lucide-react'
import { Checkbox as RadixCheckbox, Switch as RadixSwitch } from 'radix-ui'
import { type ReactElement, type ReactNode, useId } from 'react'
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
export function Checkbox(props: ToggleProps): ReactNode {
  return (
    <Toggle {...props}>
      {attributes => (
        <RadixCheckbox.Root {...attributes} className={styles.box}>
          <RadixCheckbox.Indicator asChild>
            <Check size={13} strokeWidth={3} aria-hidden="true" />
          </RadixCheckbox.Indicator>
        </RadixCheckbox.Root>
      )}
    </Toggle>
  )
}

/** A switch. Its change applies immediately. */
export function Switch(props: ToggleProps): ReactNode {
  return (
    <Toggle {...props}>
      {attributes => (
        <RadixSwitch.Root {...attributes} className={styles.switch}>
          <RadixSwitch.Thumb className={styles.thumb} />
        </RadixSwitch.Root>
      )}
    </Toggle>
  )
}

type Attributes = {
  id: string
  name?: string
  checked?: boolean
  defaultChecked?: boolean
  'aria-describedby'?: string | undefined
  'aria-disabled'?: true | undefined
  onCheckedChange(checked: boolean | 'indeterminate'): void
}

function Toggle(
  props: ToggleProps & { children(attributes: Attributes): ReactElement<Record<string, unknown>> },
): ReactNode {
  const { label, hint, name, isOn, isInitiallyOn, onChange, refusal, isLabelHidden, children } = props
  const id = useId()
  const toggle = children({
    id,
    ...(name === undefined ? {} : { name }),
    ...(isOn === undefined ? {} : { checked: isOn }),
    ...(isInitiallyOn === undefined ? {} : { defaultChecked: isInitiallyOn }),
    'aria-describedby': hint == null ? undefined : `${id}-hint`,
    'aria-disabled': refusal ? true : undefined,
    onCheckedChange: checked => !refusal && onChange?.(checked === true),
  })
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
