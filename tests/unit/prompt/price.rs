//! Unit tests of what is private in `src/prompt/price.rs`.

use super::*;

#[test]
fn images_cost_what_the_vendors_say() {
    // Anthropic's rule, in patches of 28 pixels: 8·8, 36·36, 39·39, and never more than 4784.
    assert_eq!(ImageRule::Anthropic.tokens(Some((200, 200))), 64);
    assert_eq!(ImageRule::Anthropic.tokens(Some((1000, 1000))), 1296);
    assert_eq!(ImageRule::Anthropic.tokens(Some((1092, 1092))), 1521);
    assert_eq!(ImageRule::Anthropic.tokens(Some((8000, 8000))), 4784);
    // OpenAI's own examples at high detail: 1024×1024 is 765, 2048×4096 is 1105.
    assert_eq!(ImageRule::OpenAi.tokens(Some((1024, 1024))), 765);
    assert_eq!(ImageRule::OpenAi.tokens(Some((2048, 4096))), 1105);
    assert_eq!(ImageRule::Gemini.tokens(Some((384, 384))), 258);
    // Google's own example: 960×540 is 6 tiles.
    assert_eq!(ImageRule::Gemini.tokens(Some((960, 540))), 258 * 6);
    assert_eq!(ImageRule::Flat(7).tokens(None), 7);
    assert_eq!(ImageRule::OpenAi.tokens(Some((u32::MAX, 1))), 85 + 170 * 4);
}
