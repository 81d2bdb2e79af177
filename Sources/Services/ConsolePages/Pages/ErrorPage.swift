import APIKit
import HTTPTypes

/// What a reader sees where there is no page.
enum ErrorPage {
    /// - Parameter id: what the request is called in logs.
    static func content(_ problem: APIProblem, id: String, _ speaker: Speaker) -> PageContent {
        let status = problem.code.status
        let known = ["400", "401", "403", "404", "405", "409", "413", "422", "429", "500", "503"]
        let key = known.contains("\(status.code)") ? "\(status.code)" : status.code < 500 ? "400" : "500"
        var blocks: [Block] = [.note(sentence(problem, speaker), status.code >= 500 ? .bad : .warning)]
        if status == .unauthorized { blocks.append(.links([PageLink(speaker.word("login"), Place("login"))])) }
        blocks += [
            .text(speaker.word("error_number", ["number": id])),
            .links([PageLink(speaker.word("go_first"), Place())]),
        ]
        var content = PageContent(speaker.word(of: "error", key), blocks)
        content.status = status
        return content
    }

    /// Why something was not done, in the reader's language, and in English where that says more.
    static func sentence(_ problem: APIProblem, _ speaker: Speaker) -> String {
        let own = problem.detail.text(in: speaker.language.ofProblems, of: problem.code.status)
        let english = problem.detail.english
        guard !english.isEmpty, own != english else { return own.isEmpty ? problem.code.title : own }
        return "\(own) (\(english))"
    }
}
