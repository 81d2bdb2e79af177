import Testing

@testable import Operations

@Suite("Answers for people")
struct AnswerTests {
    @Test(
        "give ages in the largest unit that says something",
        arguments: [
            (Duration.milliseconds(900), "0 s"), (.seconds(59), "59 s"), (.seconds(60), "1 min"),
            (.seconds(7199), "119 min"),
            (.seconds(7200), "2 h"), (.seconds(172_799), "47 h"), (.seconds(172_800), "2 d"), (.seconds(-3), "-3 s"),
        ])
    func age(length: Duration, text: String) {
        #expect(length.age == text)
    }

    @Test("stand in columns as wide as they need to be, numbers to the right, nothing after the last word")
    func table() {
        var table = Table(["NAME", "N", "WHY"], numeric: [1])
        table.add(["a", "100", "because"])
        table.add(["longer", "7", ""])
        #expect(
            table.text == """
                NAME      N  WHY
                a       100  because
                longer    7
                """)
    }
}
