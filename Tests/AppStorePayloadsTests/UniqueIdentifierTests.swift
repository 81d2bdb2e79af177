import AppStorePayloads
import Base
import Testing

@Suite("UniqueIdentifier")
struct UniqueIdentifierTests {
    private let text = "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7"

    @Test("is the same in either letter case and is written in lower case")
    func letterCase() {
        #expect(UniqueIdentifier(text) == UniqueIdentifier(text.uppercased()))
        #expect(UniqueIdentifier(text.uppercased())?.description == text)
        #expect(UniqueIdentifier(text) == UniqueIdentifier(high: 0x1a7c_dc3d_9360_49c3, low: 0xae37_0423_e4c6_e7c7))
    }

    @Test(
        "is nothing else than 8-4-4-4-12",
        arguments: [
            "", "1a7cdc3d936049c3ae370423e4c6e7c7", "{1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7}",
            "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c", "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c70",
            "1a7cdc3d-9360-49c3-ae37-0423e4c6e7cg", "1a7cdc3d-9360-49c3-ae370-423e4c6e7c7",
            " 1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7", "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7\u{0}",
        ])
    func refused(text: String) { #expect(UniqueIdentifier(text) == nil) }

    @Test("is ordered as its text")
    func order() throws {
        let small = try #require(UniqueIdentifier("0fffffff-ffff-ffff-ffff-ffffffffffff"))
        let large = try #require(UniqueIdentifier("f0000000-0000-0000-0000-000000000000"))
        #expect(small < large)
        #expect(small.description < large.description)
    }
}
