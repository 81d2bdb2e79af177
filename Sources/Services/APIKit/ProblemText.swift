package import HTTPTypes

/// Why a request is not done, in a sentence for people, in the languages of this program's own sentences.
///
/// A literal is English alone. Readers of Chinese then get what the answer's status says.
package struct ProblemText: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// In English.
    package var english: String
    private var simplified: String?
    private var traditional: String?

    /// A sentence in all three languages.
    package init(_ english: String, _ simplified: String, _ traditional: String) {
        self.english = english
        self.simplified = simplified
        self.traditional = traditional
    }

    /// A sentence in English, with a more general one in each other language.
    /// - Parameter general: its English is not used.
    package init(_ english: String, generally general: ProblemText) {
        self = general
        self.english = english
    }

    /// A sentence that there is in English alone.
    package init(english: String) { self.english = english }

    package init(stringLiteral english: String) { self.init(english: english) }

    /// The sentence in a language.
    /// - Parameter status: the answer's.
    package func text(in language: AnswerLanguage, of status: HTTPResponse.Status) -> String {
        switch language {
        case .english: english
        case .simplified: simplified ?? Self.general(status).simplified ?? english
        case .traditional: traditional ?? Self.general(status).traditional ?? english
        }
    }

    /// What a status says by itself.
    private static func general(_ status: HTTPResponse.Status) -> ProblemText {
        switch status.code {
        case 401: ProblemText("", "未通过身份验证", "未通過身分驗證")
        case 403: ProblemText("", "没有权限", "沒有權限")
        case 404: ProblemText("", "没有找到所请求的内容", "找不到所請求的內容")
        case 405: ProblemText("", "不支持此请求方法", "不支援此請求方法")
        case 409: ProblemText("", "请求与当前状态冲突", "請求與目前狀態衝突")
        case 410: ProblemText("", "所请求的内容已不再保留", "所請求的內容已不再保留")
        case 413: ProblemText("", "请求内容过大", "請求內容過大")
        case 429: ProblemText("", "请求过于频繁，请稍后重试", "請求過於頻繁，請稍後再試")
        case 503: ProblemText("", "服务暂时不可用，请稍后重试", "服務暫時無法使用，請稍後再試")
        case 500...599: ProblemText("", "服务器内部错误", "伺服器內部錯誤")
        default: ProblemText("", "请求有误", "請求有誤")
        }
    }
}
