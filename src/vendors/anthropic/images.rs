//! Requests with many images.

/// With more images in a request, each may have at most [`MAX_SIDE`] pixels a side.
pub(crate) const MANY_IMAGES: usize = 20;

/// Pixels a side of an image in a request with more than [`MANY_IMAGES`].
const MAX_SIDE: u32 = 2000;

/// Whether an image of this size is refused in a request with many.
pub(crate) fn is_large((width, height): (u32, u32)) -> bool {
    width.max(height) > MAX_SIDE
}

/// The finding about a request with so many images, of which one is large.
pub(crate) fn many_large_images(count: usize) -> String {
    format!(
        "one of {count} images has over {MAX_SIDE} pixels a side; Anthropic refuses it next to more than {MANY_IMAGES} images; scale it down or set `maxImages`"
    )
}
