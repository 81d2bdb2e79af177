import Base
import Testing

@Suite struct ShapeTests {
    private static let part = Shape<Int, Void>("Part", [.init("value") { $0 }])

    private static let whole = Shape<[Int], Void>(
        "Whole",
        [
            .first("latest", of: "all", part, about: "The first of all."),
            .list("all", part) { $0 },
        ])

    @Test("A member that is the first element of a list has its value, and is null where the list is empty.")
    func firstElement() {
        #expect(
            Self.whole.value(of: [7, 3], for: ()).text == #"{"latest":{"value":7},"all":[{"value":7},{"value":3}]}"#)
        #expect(Self.whole.value(of: [], for: ()).text == #"{"latest":null,"all":[]}"#)
    }

    @Test("It stays so where its shape is taken over by another one.")
    func takenOver() {
        let larger = Self.whole.after([.init("count") { (all: [Int]) in all.count }]) { all in all }
        #expect(larger.value(of: [7], for: ()).text == #"{"count":1,"latest":{"value":7},"all":[{"value":7}]}"#)
    }
}
