import APIKit
import HTTPTypes
import Pipeline
import Testing

@testable import AccountAPI

@Suite("What a test notification's answer says in Chinese")
struct BrokenLinkTextTests {
    @Test(
        "is of the broken link, with words of its own for each, and for one that is not known",
        arguments: [
            AnswerLanguage.simplified, .traditional,
        ])
    func links(_ language: AnswerLanguage) {
        let links: [ConnectionVerdict.Link?] = ConnectionVerdict.Link.allCases + [nil]
        let texts = links.map { TestNotificationRoute.general($0).text(in: language, of: .gatewayTimeout) }
        #expect(Set(texts).count == links.count)
        for text in texts { #expect(text.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }, "\(text)") }
        // An unseen queue blames neither worker nor URL alone.
        #expect(texts.last?.contains("URL") == true && texts.last?.contains("storehook queue") == true)
    }
}
