import type { FocusEvent, ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { classNames } from '../ui/class-names.ts'
import { FormProblem } from '../ui/problem.tsx'
import styles from './form.module.css'
import type { Form as FormState } from './use-form.ts'

type FormProps = {
  form: FormState
  action: string
  children?: ReactNode
  isWide?: boolean
  /** Shown next to the submit button. */
  more?: ReactNode
  /** Shown after the submit button, which Enter presses. */
  after?: ReactNode
  /** Keeps the buttons in view. */
  isLong?: boolean
  onBlur?(event: FocusEvent): void
}

/** A form: its fields, the error of the whole form, and the submit button. */
export function Form({ form, action, children, isWide, more, after, isLong, onBlur }: FormProps): ReactNode {
  return (
    <form className={styles.form} onSubmit={form.onSubmit} onInput={form.onInput} onBlur={onBlur} noValidate>
      {children}
      <FormProblem problem={form.problem} />
      <div className={classNames(styles.actions, isLong && styles.sticky)}>
        {more}
        <Button type="submit" kind="primary" isWide={isWide} isPending={form.isPending}>
          {action}
        </Button>
        {after}
      </div>
    </form>
  )
}
