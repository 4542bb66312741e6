-- Stores how far the queue has been filled.
-- Sent by withPromotion.

UPDATE promotion SET watermark = $1, marker = $2
