//! Requests with many images.

/// If a request has more images than this, each may have at most [`MAX_SIDE`] pixels a side.
pub(crate) const MANY_IMAGES: usize = 20;

/// Maximal pixels a side of an image in a request with more than [`MANY_IMAGES`].
const MAX_SIDE: u32 = 2000;

/// Whether an image of this size is rejected in a request with many.
pub(crate) fn is_large((width, height): (u32, u32)) -> bool {
    width.max(height) > MAX_SIDE
}

/// The finding about a request with this many images, of which one is large.
pub(crate) fn many_large_images(count: usize) -> String {
    format!(
        "one of {count} images has over {MAX_SIDE} pixels a side, which Anthropic rejects for more than {MANY_IMAGES} images; scale it down or set `maxImages`"
    )
}
