import type { ComponentProps, ReactNode } from 'react'
import { Select } from '../../ui/field.tsx'

/** How the delays between attempts grow. */
export function BackoffSelect(props: ComponentProps<typeof Select>): ReactNode {
  return (
    <Select name="retry.backoff" {...props}>
      <option value="exponential">fourfold each time</option>
      <option value="linear">by the first delay</option>
      <option value="fixed">not at all</option>
    </Select>
  )
}
