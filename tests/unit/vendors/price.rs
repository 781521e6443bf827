//! Unit tests of private items in `src/vendors/price.rs`.

use super::*;

#[test]
fn images_cost_what_the_vendors_say() {
    // Anthropic's rule, in patches of 28 pixels: 8·8, 36·36, 39·39, and never more than 4784, or 1568 before 4.7.
    let now = ImageRule::anthropic("claude-opus-4-7");
    assert_eq!(now.tokens(Some((200, 200))), 64);
    assert_eq!(now.tokens(Some((1000, 1000))), 1296);
    assert_eq!(now.tokens(Some((1092, 1092))), 1521);
    assert_eq!(now.tokens(Some((8000, 8000))), 4784);
    assert_eq!(now, ImageRule::anthropic(""));
    assert_eq!(ImageRule::anthropic("claude-sonnet-4-5-20250929").tokens(Some((8000, 8000))), 1568);
    assert_eq!(ImageRule::anthropic("claude-sonnet-4-20250514").tokens(Some((8000, 8000))), 1568);
    // OpenAI's own examples at high detail: 1024×1024 is 765, 2048×4096 is 1105.
    let tiles = ImageRule::openai("gpt-4o-2024-08-06");
    assert_eq!(tiles.tokens(Some((1024, 1024))), 765);
    assert_eq!(tiles.tokens(Some((2048, 4096))), 1105);
    assert_eq!(tiles.tokens(Some((u32::MAX, 1))), 85 + 170 * 4);
    assert_eq!(ImageRule::openai("gpt-4o-mini").tokens(Some((512, 512))), 2833 + 5667);
    assert_eq!(ImageRule::openai("gpt-5.2").tokens(Some((512, 512))), 70 + 140);
    // Its own example of patches: 1024×1024 is 1024, and 1800×2400 is scaled to fewer than 1536.
    assert_eq!(ImageRule::openai("gpt-5-mini").tokens(Some((1024, 1024))), 1659);
    assert_eq!(ImageRule::openai("o4-mini").tokens(Some((1800, 2400))), 2642);
    assert_eq!(ImageRule::openai("gpt-4.1-nano").tokens(Some((64, 32))), 5);
    // A model that is not known is the dearest.
    for model in ["gpt-4.1-mini", "gpt-4.1-nano", "gpt-5", "gpt-5.4", "o3", "o4-mini", "computer-use-preview"] {
        for size in [(640, 480), (1024, 1024), (1800, 2400), (5000, 4000)] {
            let known = ImageRule::openai(model).tokens(Some(size));
            assert!(known <= ImageRule::openai("new").tokens(Some(size)), "{model}, {size:?}");
        }
    }
    assert_eq!(ImageRule::gemini("gemini-2.5-flash").tokens(Some((384, 384))), 258);
    // Google's own example: 960×540 is 6 tiles.
    assert_eq!(ImageRule::Gemini.tokens(Some((960, 540))), 258 * 6);
    assert_eq!(ImageRule::gemini("gemini-3-pro").tokens(Some((960, 540))), 1120);
    assert_eq!(ImageRule::gemini("").tokens(Some((960, 540))), 258 * 6);
    assert_eq!(ImageRule::gemini("").tokens(Some((384, 384))), 1120);
    assert_eq!(ImageRule::Flat(7).tokens(None), 7);
    assert_eq!(ImageRule::Unknown.tokens(Some((9, 9))), UNKNOWN_IMAGE);
}
