-- Locks the promotion, unless another scheduler has it.
-- Sent by withPromotion.

SELECT watermark, marker, clock_timestamp() AS now FROM promotion FOR UPDATE SKIP LOCKED
